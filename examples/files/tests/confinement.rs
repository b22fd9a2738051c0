//! Confinement to the served directory.

use std::fs;
use std::process::Command;

use super::{create_tree, describe_error};
use crate::directory::{FilesError, MAX_FILE_BYTES};

#[test]
fn paths_outside_are_rejected() {
    let (tree, directory) = create_tree();
    let absolute = tree.path().join("secret.txt");
    let absolute = absolute.to_str().unwrap();
    let paths = [
        "../secret.txt",
        "sub/../../secret.txt",
        "sub/../a.txt",
        "..",
        "/",
        absolute,
    ];
    for path in paths
        .into_iter()
        .chain(["escape.txt", "up/secret.txt", "up/root/a.txt", "up"])
    {
        let read = directory.read(path, 1, None).unwrap_err();
        assert!(
            matches!(read, FilesError::Outside(_)),
            "read {path}: {read:?}"
        );
    }
    for path in ["..", "/", "up", "up/root", "sub/.."] {
        let list = directory.list(path, None, 10).unwrap_err();
        assert!(
            matches!(list, FilesError::Outside(_)),
            "list {path}: {list:?}"
        );
    }
}

#[test]
fn link_to_the_inside_is_read() {
    let (_tree, directory) = create_tree();
    assert_eq!(
        directory.read("inside.txt", 1, Some(1)).unwrap().text,
        "one\n"
    );
}

#[test]
fn unreadable_paths_have_errors() {
    let (tree, directory) = create_tree();
    let large = fs::File::create(tree.path().join("root/large.txt")).unwrap();
    large.set_len(MAX_FILE_BYTES + 1).unwrap();
    let expected = [
        (
            "none.txt",
            "NotFound: `none.txt` does not exist; use `files.list` to see existing paths",
        ),
        (
            "a.txt/x",
            "NotFound: `a.txt/x` does not exist; use `files.list` to see existing paths",
        ),
        (
            "sub",
            "IsDirectory: `sub` is a directory; list it with `files.list`",
        ),
        (
            "",
            "IsDirectory: `` is a directory; list it with `files.list`",
        ),
        (
            "binary.dat",
            "Binary: `binary.dat` is a binary file; only text files can be read",
        ),
        (
            "large.txt",
            "TooLarge: `large.txt` has 8388609 bytes; the limit is 8388608 bytes",
        ),
        ("loop", "Io: `loop` cannot be read"),
        ("a\0b", "Io: `a\0b` cannot be read"),
    ];
    for (path, error) in expected {
        assert_eq!(
            describe_error(&directory.read(path, 1, None).unwrap_err()),
            error
        );
    }
}

#[test]
fn named_pipe_is_rejected_at_once() {
    let (tree, directory) = create_tree();
    let pipe = tree.path().join("root/pipe");
    let made = Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    let error = directory.read("pipe", 1, None).unwrap_err();
    assert_eq!(
        describe_error(&error),
        "Special: `pipe` is neither a file nor a directory; it cannot be read"
    );
}
