//! Saving of results to files.

use super::*;
use crate::args::Verbosity;

#[cfg(unix)]
#[test]
fn a_device_stays_a_device() {
    use std::os::unix::fs::FileTypeExt as _;

    let directory = tempfile::tempdir().unwrap();
    let link = directory.path().join("null");
    std::os::unix::fs::symlink("/dev/null", &link).unwrap();
    replace_file(&link, b"text").unwrap();
    let kind = fs::metadata("/dev/null").unwrap().file_type();
    assert!(kind.is_char_device());
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
}

#[cfg(unix)]
#[test]
fn links_stay_and_permissions_are_retained() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    symlink("second", path("first")).unwrap();
    symlink("target", path("second")).unwrap();
    // The target of the links does not exist at first.
    for mode in [0o640, 0o600] {
        replace_file(&path("first"), b"text").unwrap();
        fs::set_permissions(path("target"), Permissions::from_mode(mode)).unwrap();
        replace_file(&path("first"), b"text").unwrap();
        let target = fs::symlink_metadata(path("target")).unwrap();
        assert_eq!(target.permissions().mode() & 0o777, mode);
        assert!(path("second").is_symlink() && path("first").is_symlink());
    }
    symlink("loop", path("loop")).unwrap();
    assert!(replace_file(&path("loop"), b"text").is_err());
    assert!(path("loop").is_symlink());
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 4);
}

#[tokio::test]
async fn content_that_cannot_be_decoded_overwrites_no_file() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("plot.png");
    fs::write(&file, "old").unwrap();
    let parts = [Rendered::Invalid("[image]".to_owned())];
    let terminal = Terminal::new(Verbosity {
        quiet: true,
        verbose: 0,
    });
    let saved = print_or_save(&parts, Some(&file), &terminal).await;
    assert_eq!(saved.unwrap_err().exit(), Exit::Protocol);
    assert_eq!(fs::read(&file).unwrap(), b"old");
}

#[test]
fn numbers_are_inserted_before_the_extension() {
    assert_eq!(
        numbered_path(Path::new("a/plot.png"), 2),
        Path::new("a/plot-2.png")
    );
    assert_eq!(numbered_path(Path::new("plot"), 1), Path::new("plot-1"));
}
