//! Clients that others wrote use the examples, over stdio and over HTTP.
//!
//! The clients are those of the official SDKs for TypeScript and Python, pinned in `package-lock.json` and
//! `requirements.txt`; a program for each example and language says what each of them must be able to do.

// Cargo does not run the tests inside of examples; those of this one run here.
#[path = "../../examples/files/mod.rs"]
#[allow(dead_code, unused_imports, reason = "only its tests are used here")]
mod directory;
mod programs;
mod sse;

use std::fs;

use crate::programs::{Client, Over};

/// The clients that `clients.mjs` and `clients.py` have.
const CLIENTS: [&str; 5] = [
    "v1",
    "v2-legacy",
    "v2-modern",
    "python-legacy",
    "python-modern",
];

#[test]
fn clients_use_the_files_example_over_stdio() {
    use_files(Over::Stdio);
}

#[test]
fn clients_use_the_files_example_over_http() {
    use_files(Over::Http);
}

#[test]
fn clients_answer_what_the_booking_example_asks_over_stdio() {
    run("asking", "booking", Over::Stdio);
}

#[test]
fn clients_answer_what_the_booking_example_asks_over_http() {
    run("asking", "booking", Over::Http);
}

#[test]
fn clients_hear_of_the_board_example_over_stdio() {
    run("board", "board", Over::Stdio);
}

#[test]
fn clients_hear_of_the_board_example_over_http() {
    run("board", "board", Over::Http);
}

/// The programs put files into the directory that is served, and one beside it.
fn use_files(over: Over) {
    for client in CLIENTS {
        let parent = tempfile::tempdir().expect("there is room for a directory");
        let root = parent.path().join("root");
        fs::create_dir(&root).expect("the directory is new");
        let client = Client::new("files", client).argument(&root);
        client.use_example("files", &[root.as_os_str()], over);
    }
}

fn run(program: &str, example: &str, over: Over) {
    for client in CLIENTS {
        Client::new(program, client).use_example(example, &[], over);
    }
}
