//! Tests of the tools on a temporary directory with links and named pipes.

#![cfg(unix)]

mod confinement;
mod read;
mod search;

use std::fs;
use std::os::unix::fs::symlink;

use tempfile::TempDir;

use super::{Directory, FilesError};

const TREE: &[(&str, &[u8])] = &[
    ("secret.txt", b"needle outside\n"),
    ("root/.gitignore", b"*.log\n/build\n!keep.log\n"),
    ("root/.hidden", b"needle\n"),
    ("root/a.txt", b"one\ntwo needle\r\nthree"),
    ("root/b.log", b"needle\n"),
    ("root/binary.dat", b"needle\n\0\n"),
    ("root/build/out.txt", b"needle\n"),
    ("root/build/.gitignore", b"*.tmp\n"),
    ("root/build/out.tmp", b""),
    ("root/empty.txt", b""),
    ("root/keep.log", b"kept\n"),
    ("root/latin1.txt", b"caf\xe9 needle\n"),
    ("root/sub/.gitignore", b"!b.log\nc.txt\n"),
    ("root/sub/b.log", b"line\n"),
    ("root/sub/c.txt", b"needle\n"),
    ("root/sub/deep/d.rs", b"fn needle() {}\n"),
];

/// Creates the tree, and opens the directory `root` in it.
fn create_tree() -> (TempDir, Directory) {
    let tree = tempfile::tempdir().unwrap();
    for (path, bytes) in TREE {
        let path = tree.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    let root = tree.path().join("root");
    symlink("../secret.txt", root.join("escape.txt")).unwrap();
    symlink("..", root.join("up")).unwrap();
    symlink("a.txt", root.join("inside.txt")).unwrap();
    symlink("loop", root.join("loop")).unwrap();
    let directory = Directory::open(&root).unwrap();
    (tree, directory)
}

/// Formats an error as its variant and its message.
fn describe_error(error: &FilesError) -> String {
    let name = format!("{error:?}");
    let name = name.split([' ', '(']).next().unwrap();
    format!("{name}: {error}")
}
