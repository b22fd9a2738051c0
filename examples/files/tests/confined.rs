//! What can be reached at all.

use std::fs;
use std::process::Command;

use super::{told, tree};
use crate::directory::{FilesError, MAX_FILE_BYTES};

#[test]
fn nothing_outside_can_be_reached() {
    let (tree, directory) = tree();
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
fn a_link_that_stays_inside_is_read() {
    let (_tree, directory) = tree();
    assert_eq!(
        directory.read("inside.txt", 1, Some(1)).unwrap().text,
        "one\n"
    );
}

#[test]
fn what_cannot_be_read_is_named() {
    let (tree, directory) = tree();
    let large = fs::File::create(tree.path().join("root/large.txt")).unwrap();
    large.set_len(MAX_FILE_BYTES + 1).unwrap();
    let expected = [
        (
            "none.txt",
            "NotFound: `none.txt` does not exist; `files.list` shows what does",
        ),
        (
            "a.txt/x",
            "NotFound: `a.txt/x` does not exist; `files.list` shows what does",
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
            "Binary: `binary.dat` is a binary file; only text can be read",
        ),
        (
            "large.txt",
            "TooLarge: `large.txt` has 8388609 bytes; files over 8388608 bytes are not read",
        ),
        ("loop", "Io: `loop` cannot be read"),
        ("a\0b", "Io: `a\0b` cannot be read"),
    ];
    for (path, error) in expected {
        assert_eq!(told(&directory.read(path, 1, None).unwrap_err()), error);
    }
}

#[test]
fn a_named_pipe_is_refused_at_once() {
    let (tree, directory) = tree();
    let pipe = tree.path().join("root/pipe");
    let made = Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    let error = directory.read("pipe", 1, None).unwrap_err();
    assert_eq!(
        told(&error),
        "Special: `pipe` is neither a file nor a directory; it cannot be read"
    );
}
