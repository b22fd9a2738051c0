//! Tests of the examples with the official clients, over standard input and output and over HTTP.
//!
//! The clients are those of the official SDKs for TypeScript and Python, pinned in `package-lock.json` and
//! `requirements.txt`. A program for each example and language contains the checks.

mod authorization;
// Cargo does not run the tests inside examples. The tests of this example run here.
#[path = "../../examples/files/mod.rs"]
#[allow(
    dead_code,
    unused_imports,
    reason = "this test binary uses only the tests of the module"
)]
mod directory;
mod other_transports;
mod programs;

use std::fs;

use crate::programs::{Client, Transport};

/// Clients in `clients.mjs` and `clients.py`.
const CLIENTS: [&str; 5] = [
    "v1",
    "v2-legacy",
    "v2-modern",
    "python-legacy",
    "python-modern",
];

#[test]
fn clients_use_the_files_example_over_stdio() {
    use_files(Transport::Stdio);
}

#[test]
fn clients_use_the_files_example_over_http() {
    use_files(Transport::Http);
}

#[test]
fn clients_answer_the_booking_example_over_stdio() {
    run("asking", "booking", Transport::Stdio);
}

#[test]
fn clients_answer_the_booking_example_over_http() {
    run("asking", "booking", Transport::Http);
}

#[test]
fn clients_watch_the_board_example_over_stdio() {
    run("board", "board", Transport::Stdio);
}

#[test]
fn clients_watch_the_board_example_over_http() {
    run("board", "board", Transport::Http);
}

#[test]
fn clients_run_tasks_over_stdio() {
    run_tasks(Transport::Stdio);
}

#[test]
fn clients_run_tasks_over_http() {
    run_tasks(Transport::Http);
}

/// Runs the program for tasks with the TypeScript clients; the Python SDK has no tasks.
fn run_tasks(transport: Transport) {
    for client in ["v1", "v2-legacy", "v2-modern"] {
        let folder = tempfile::tempdir().expect("a temporary directory can be created");
        let store = folder.path().join("tasks.db");
        Client::new("tasks", client).use_example("jobs", &[store.as_os_str()], transport);
    }
}

/// Runs the programs for `files`. They create files in the served directory, and one next to it.
fn use_files(transport: Transport) {
    for client in CLIENTS {
        let parent = tempfile::tempdir().expect("a temporary directory can be created");
        let root = parent.path().join("root");
        fs::create_dir(&root).expect("the directory can be created");
        let client = Client::new("files", client).argument(&root);
        client.use_example("files", &[root.as_os_str()], transport);
    }
}

fn run(program: &str, example: &str, transport: Transport) {
    for client in CLIENTS {
        Client::new(program, client).use_example(example, &[], transport);
    }
}
