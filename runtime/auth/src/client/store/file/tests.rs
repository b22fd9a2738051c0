//! Attacks on the files of a store, and its encryption. AUTH-X-17.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::*;
use crate::Secret;

const CANARY: &str = "canary-refresh-token";

fn key() -> StoreKey {
    StoreKey::tokens(
        "https://example.com/mcp",
        "https://auth.example.com",
        "planner",
    )
}

fn open(directory: &Path) -> Result<FileStore, AuthError> {
    let builder = FileStore::builder("planner").directory(directory);
    builder.key(FileStoreKey::new([7; 32])).open()
}

async fn save(store: &FileStore) -> StoredEntry {
    let generation = Generation::random().expect("random bytes");
    let entry = StoredEntry::new(generation, Secret::from(CANARY));
    store.store(&key(), entry.clone()).await.expect("stored");
    entry
}

/// Returns a store with one entry, and the path of its file.
async fn filled() -> (TempDir, FileStore, PathBuf) {
    let parent = tempfile::tempdir().expect("a directory");
    let store = open(&parent.path().join("tokens")).expect("a store");
    save(&store).await;
    let file = parent.path().join("tokens").join(entry_name(&key()));
    (parent, store, file)
}

async fn refusal(store: &FileStore) -> String {
    store.load(&key()).await.expect_err("refused").to_string()
}

async fn is_absent(store: &FileStore) -> bool {
    store.load(&key()).await.expect("no error").is_none()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("a file").permissions().mode() & 0o777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("changed");
}

#[tokio::test]
async fn an_entry_survives_a_restart_and_is_neither_readable_nor_accessible_to_others() {
    let (parent, store, file) = filled().await;
    let entry = save(&store).await;
    drop(store);
    let store = open(file.parent().expect("a directory")).expect("a store");
    let loaded = store.load(&key()).await.expect("loaded").expect("an entry");
    assert_eq!(loaded.text.expose(), CANARY);
    assert_eq!(loaded.generation, entry.generation);
    let bytes = fs::read(&file).expect("a file");
    assert!(!String::from_utf8_lossy(&bytes).contains("canary"));
    assert_eq!(
        (mode(&file), mode(&parent.path().join("tokens"))),
        (0o600, 0o700)
    );
    assert!(
        store
            .delete(&key(), entry.generation)
            .await
            .expect("no error")
    );
    assert!(is_absent(&store).await);
}

#[tokio::test]
async fn a_changed_truncated_or_renamed_file_counts_as_absent() {
    let (_parent, store, file) = filled().await;
    let whole = fs::read(&file).expect("a file");
    for length in 0..whole.len() {
        fs::write(&file, &whole[..length]).expect("written");
        assert!(is_absent(&store).await, "{length} bytes");
    }
    for place in 0..whole.len() {
        let mut changed = whole.clone();
        changed[place] ^= 1;
        fs::write(&file, &changed).expect("written");
        assert!(is_absent(&store).await, "byte {place}");
    }
    let other = StoreKey::server("https://example.com/mcp");
    fs::write(file.with_file_name(entry_name(&other)), &whole).expect("written");
    set_mode(&file.with_file_name(entry_name(&other)), 0o600);
    assert!(store.load(&other).await.expect("no error").is_none());
    fs::write(&file, &whole).expect("written");
    assert!(!is_absent(&store).await);
}

#[tokio::test]
async fn a_file_of_another_machine_or_program_counts_as_absent() {
    let (_parent, _store, file) = filled().await;
    let directory = file.parent().expect("a directory");
    let builder = FileStore::builder("planner").directory(directory);
    let other_key = builder.key(FileStoreKey::new([8; 32])).open();
    assert!(is_absent(&other_key.expect("a store")).await);
    let builder = FileStore::builder("other").directory(directory);
    let other_name = builder.key(FileStoreKey::new([7; 32])).open();
    assert!(is_absent(&other_name.expect("a store")).await);
}

#[tokio::test]
async fn a_symbolic_link_is_refused_and_replaced_without_its_target() {
    let (parent, store, file) = filled().await;
    let target = parent.path().join("target");
    fs::rename(&file, &target).expect("moved");
    symlink(&target, &file).expect("a link");
    assert!(refusal(&store).await.contains("symbolic link"));
    let before = fs::read(&target).expect("a file");
    save(&store).await;
    assert_eq!(fs::read(&target).expect("a file"), before);
    assert!(!file.is_symlink());
}

#[tokio::test]
async fn a_lock_file_that_is_a_symbolic_link_is_refused() {
    let (parent, store, file) = filled().await;
    let lock = file.with_file_name(evict::lock_name(&entry_name(&key())));
    symlink(parent.path().join("created-by-lock"), lock).expect("a link");
    assert!(store.lock(&key()).await.is_err());
    assert!(!parent.path().join("created-by-lock").exists());
}

#[tokio::test]
async fn a_file_that_others_can_read_is_refused() {
    let (_parent, store, file) = filled().await;
    for mode in [0o644, 0o640, 0o602] {
        set_mode(&file, mode);
        assert!(refusal(&store).await.contains("0600"));
    }
}

#[tokio::test]
async fn a_directory_or_a_large_file_in_place_of_an_entry_is_refused() {
    let (_parent, store, file) = filled().await;
    let large = fs::File::options().write(true).open(&file).expect("a file");
    large.set_len(1 << 40).expect("a sparse file");
    assert!(refusal(&store).await.contains("longer"));
    fs::remove_file(&file).expect("removed");
    fs::create_dir(&file).expect("a directory");
    assert!(refusal(&store).await.contains("no regular file"));
}

#[test]
fn a_directory_that_others_can_read_or_that_is_a_link_is_refused() {
    let parent = tempfile::tempdir().expect("a directory");
    let path = parent.path().join("tokens");
    open(&path).expect("a store");
    let link = parent.path().join("link");
    symlink(&path, &link).expect("a link");
    assert!(open(&link).is_err());
    set_mode(&path, 0o755);
    let error = open(&path).expect_err("refused").to_string();
    assert!(error.contains("0700"), "{error}");
}

#[tokio::test]
async fn a_key_file_is_private_and_a_damaged_one_is_refused() {
    let parent = tempfile::tempdir().expect("a directory");
    let path = parent.path().join("tokens");
    let open = || {
        FileStore::builder("planner")
            .directory(&path)
            .key_file()
            .open()
    };
    save(&open().expect("a store")).await;
    assert!(!is_absent(&open().expect("a store")).await);
    assert_eq!(mode(&path.join("key")), 0o600);
    fs::write(path.join("key"), "short").expect("written");
    let error = open().expect_err("refused").to_string();
    assert!(
        error.contains("32 bytes") && !error.contains("short"),
        "{error}"
    );
    fs::remove_file(path.join("key")).expect("removed");
    assert!(is_absent(&open().expect("a store")).await);
}

#[tokio::test]
async fn the_oldest_entry_is_removed_when_the_store_is_full() {
    let (_parent, store, file) = filled().await;
    let old = fs::File::options().write(true).open(&file).expect("a file");
    old.set_modified(std::time::SystemTime::UNIX_EPOCH)
        .expect("changed");
    for number in 0..1023 {
        let name = file.with_file_name(format!("{number}{}", evict::ENTRY));
        fs::write(name, "").expect("written");
    }
    assert!(!is_absent(&store).await);
    let generation = Generation::random().expect("random bytes");
    let other = StoreKey::server("https://example.com/mcp");
    let entry = StoredEntry::new(generation, Secret::from(CANARY));
    store.store(&other, entry).await.expect("stored");
    assert!(is_absent(&store).await);
    assert!(store.load(&other).await.expect("no error").is_some());
}

#[tokio::test]
async fn locks_of_deleted_entries_are_removed() {
    let (_parent, store, file) = filled().await;
    let server = |name: &str| StoreKey::server(&format!("https://{name}.example.com/mcp"));
    let keys = ["deleted", "recent", "held"].map(server);
    let lock_of = |key: &StoreKey| file.with_file_name(evict::lock_name(&entry_name(key)));
    for key in keys.iter().chain([&key()]) {
        drop(store.lock(key).await.expect("a lock"));
    }
    let age = |path: PathBuf| {
        let lock = fs::File::options().write(true).open(path);
        let modified = std::time::SystemTime::now() - Duration::from_secs(2 * 60 * 60);
        lock.and_then(|lock| lock.set_modified(modified))
            .expect("changed");
    };
    for key in [&keys[0], &keys[2], &key()] {
        age(lock_of(key));
    }
    let _held = store.lock(&keys[2]).await.expect("a lock");
    open(file.parent().expect("a directory")).expect("a store");
    let remain = |key: &StoreKey| lock_of(key).exists();
    assert_eq!(keys.each_ref().map(remain), [false, true, true]);
    assert!(remain(&key()), "its entry exists");
    drop(store.lock(&keys[0]).await.expect("a lock"));
}

#[test]
fn names_with_other_characters_are_invalid() {
    for name in [
        "",
        ".",
        "..",
        "../x",
        "a/b",
        "a\\b",
        "a b",
        "ä",
        &"a".repeat(65),
    ] {
        let error = FileStore::open(name).expect_err("invalid");
        assert!(matches!(error, AuthError::Invalid(_)), "{name}: {error}");
    }
}

#[test]
fn debug_of_store_and_key_has_no_secret() {
    let parent = tempfile::tempdir().expect("a directory");
    let builder = FileStore::builder("planner").directory(parent.path().join("tokens"));
    let builder = builder.key(FileStoreKey::new([7; 32]));
    let text = format!("{builder:?} {:?}", builder.clone().open());
    assert!(!text.contains("7, 7"), "{text}");
}
