//! Files that count as sources.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Component, Path, PathBuf};

/// Maximum size of a file whose content is compared, in bytes.
const MAX_HASHED_BYTES: u64 = 8 << 20;

/// Maximum number of hashes.
const MAX_HASHES: usize = 20_000;

/// Directories without sources.
const IGNORED_NAMES: [&str; 3] = ["target", "node_modules", "__pycache__"];

/// Extensions of sources in the directories of Cargo packages.
const SOURCE_EXTENSIONS: [&str; 3] = ["rs", "toml", "lock"];

/// Hashes of the files that have changed. A build that writes the same output again, beside its sources, is no change.
#[derive(Debug, Default)]
pub(super) struct Contents(HashMap<PathBuf, Option<u64>>);

impl Contents {
    /// Returns false if the file is the same as at its last change.
    pub(super) fn has_changed(&mut self, path: &Path) -> bool {
        // Files that are too large, or that do not exist any more, have no hash.
        let size = fs::metadata(path).map_or(0, |file| file.len());
        let content = (size <= MAX_HASHED_BYTES)
            .then(|| fs::read(path).ok())
            .flatten();
        let hash = content.map(|content| {
            let mut hasher = DefaultHasher::new();
            content.hash(&mut hasher);
            hasher.finish()
        });
        if self.0.len() >= MAX_HASHES {
            self.0.clear();
        }
        let old = self.0.insert(path.to_owned(), hash);
        hash.is_none() || old != Some(hash)
    }
}

/// Rules that decide which files count. All paths are absolute.
#[derive(Debug, Default)]
pub(super) struct Rules {
    pub(super) paths: Vec<PathBuf>,
    pub(super) ignored: Vec<PathBuf>,
    /// Files that the last build has read.
    pub(super) files: HashSet<PathBuf>,
}

impl SourceWatch {
    pub(super) fn start(watched: Watched, terminal: &Terminal) -> Result<Self, Failure> {
        let (sender, changes) = mpsc::unbounded_channel();
        let watcher = notify::recommended_watcher(move |event| send_paths(event, &sender));
        let watcher = watcher.map_err(|error| {
            Failure::new(Exit::Io, format!("source files cannot be watched: {error}"))
        })?;
        let mut watch = Self {
            watcher,
            changes,
            rules: Rules::default(),
            directories: HashSet::new(),
            contents: Contents::default(),
            terminal: terminal.clone(),
            is_full: false,
            seen: None,
        };
        for path in &watched.paths {
            let exists = fs::metadata(path);
            exists.map_err(Failure::io(format!("`{}`", path.display())))?;
        }
        watch.watch_also(&watched);
        Ok(watch)
    }

    /// Watches further files.
    pub(super) fn watch_also(&mut self, watched: &Watched) {
        let absolute = |paths: &[PathBuf]| -> Vec<PathBuf> {
            paths
                .iter()
                .filter_map(|path| path.canonicalize().ok())
                .collect()
        };
        self.rules.ignored.extend(absolute(&watched.ignored));
        self.rules.paths.extend(absolute(&watched.paths));
        for path in absolute(&watched.directories)
            .iter()
            .chain(&absolute(&watched.paths))
        {
            if path.is_dir() {
                self.watch_tree(path);
            } else if let Some(parent) = path.parent() {
                // Editors replace files, which would end the watch of the file itself.
                self.watch_directory(parent);
            }
        }
    }

    /// Replaces the files that the last build has read.
    pub(super) fn watch_files(&mut self, files: &[PathBuf]) {
        self.rules.files = files.iter().cloned().collect();
        for file in files {
            if let Some(parent) = file.parent() {
                self.watch_directory(parent);
            }
        }
    }

    /// Waits for a change, and until no file changes any more. Returns the first changed file, or `None` if there will be no
    /// more changes.
    pub(super) async fn wait_for_change(&mut self) -> Option<PathBuf> {
        while self.seen.is_none() {
            let path = self.changes.recv().await?;
            self.see(path);
        }
        let end = Instant::now() + MAX_DELAY;
        while let Ok(Ok(Some(path))) = timeout_at(end, timeout(QUIET, self.changes.recv())).await {
            self.see(path);
        }
        self.seen.take()
    }

    /// Remembers a path that counts. A manifest takes precedence, because it may add directories.
    fn see(&mut self, path: PathBuf) {
        if path.is_dir() && !self.rules.is_ignored(&path) {
            // Files may have been written before the watch.
            let found = self.watch_tree(&path);
            self.seen = self.seen.take().or(found);
            return;
        }
        if !path.exists() {
            // It is watched again if it returns.
            self.directories.remove(&path);
        }
        if !self.rules.counts(&path) || !self.contents.has_changed(&path) {
            return;
        }
        let is_manifest = path.file_name().is_some_and(|name| name == "Cargo.toml");
        if self.seen.is_none() || is_manifest {
            self.seen = Some(path);
        }
    }

    /// Watches a directory and those below it. Returns a file that counts and was not watched before.
    fn watch_tree(&mut self, root: &Path) -> Option<PathBuf> {
        let mut found = None;
        let mut rest = vec![root.to_owned()];
        while let Some(directory) = rest.pop() {
            let is_new = self.watch_directory(&directory);
            // The directory may have been removed since.
            let entries = fs::read_dir(&directory).into_iter().flatten().flatten();
            for entry in entries {
                let (path, kind) = (entry.path(), entry.file_type());
                let is_directory = kind.is_ok_and(|kind| kind.is_dir());
                if is_directory && !self.rules.is_ignored(&path) {
                    rest.push(path);
                } else if !is_directory && is_new && self.rules.counts(&path) {
                    found = Some(path);
                }
            }
        }
        found
    }

    /// Watches the files of one directory. Returns false if they are watched already.
    fn watch_directory(&mut self, directory: &Path) -> bool {
        if self.directories.len() >= MAX_DIRECTORIES {
            if !std::mem::replace(&mut self.is_full, true) {
                self.terminal.print_note(&format!(
                    "more than {MAX_DIRECTORIES} directories; the rest is not watched"
                ));
            }
            return false;
        }
        if self.directories.contains(directory) {
            return false;
        }
        match self.watcher.watch(directory, RecursiveMode::NonRecursive) {
            Ok(()) => self.directories.insert(directory.to_owned()),
            Err(error) => {
                let name = directory.display();
                self.terminal
                    .print_note(&format!("`{name}` is not watched: {error}"));
                false
            }
        }
    }
}

impl Rules {
    pub(super) fn is_ignored(&self, path: &Path) -> bool {
        if self.ignored.iter().any(|ignored| path.starts_with(ignored)) {
            return true;
        }
        // A directory that was named is watched, whatever its own path.
        let base = self
            .paths
            .iter()
            .find_map(|base| path.strip_prefix(base).ok());
        base.unwrap_or(path)
            .components()
            .next_back()
            .is_some_and(is_ignored_name)
    }

    pub(super) fn counts(&self, path: &Path) -> bool {
        if self.files.contains(path) {
            return true;
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_temporary =
            name.starts_with('.') || name.ends_with('~') || name.starts_with('#') || name == "4913";
        if is_temporary || self.ignored.iter().any(|ignored| path.starts_with(ignored)) {
            return false;
        }
        let extension = path.extension().unwrap_or_default().to_string_lossy();
        SOURCE_EXTENSIONS.contains(&&*extension)
            || self.paths.iter().any(|base| path.starts_with(base))
    }
}

fn is_ignored_name(component: Component<'_>) -> bool {
    let name = component.as_os_str().to_string_lossy();
    let is_hidden = name.len() > 1 && name.starts_with('.') && name != "..";
    is_hidden || IGNORED_NAMES.contains(&&*name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_and_named_paths_count() {
        let rules = Rules {
            paths: vec!["/p/data".into(), "/q/.hidden".into()],
            ignored: vec!["/p/out".into()],
            files: HashSet::from([PathBuf::from("/p/src/text.md")]),
        };
        for path in [
            "/p/src/a.rs",
            "/p/Cargo.toml",
            "/p/data/x.json",
            "/p/src/text.md",
            "/q/.hidden/a",
        ] {
            assert!(rules.counts(Path::new(path)), "{path}");
        }
        for path in [
            "/p/src/.a.rs.swp",
            "/p/src/a.rs~",
            "/p/src/other.md",
            "/p/out/a.rs",
            "/p/data/4913",
        ] {
            assert!(!rules.counts(Path::new(path)), "{path}");
        }
        for path in [
            "/p/target",
            "/p/.git",
            "/p/out/deep",
            "/p/data/node_modules",
        ] {
            assert!(rules.is_ignored(Path::new(path)), "{path}");
        }
        for path in ["/q/.hidden/sub", "/p/src", "/p/data/sub"] {
            assert!(!rules.is_ignored(Path::new(path)), "{path}");
        }
    }

    #[test]
    fn a_file_with_the_same_content_has_not_changed() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("a");
        let mut contents = Contents::default();
        for (text, expected) in [("one", true), ("one", false), ("two", true), ("one", true)] {
            fs::write(&file, text).unwrap();
            assert_eq!(contents.has_changed(&file), expected, "{text}");
        }
        fs::remove_file(&file).unwrap();
        assert!(contents.has_changed(&file));
    }
}
