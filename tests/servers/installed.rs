//! Programs that `tests/install` installs, and the commands to start them.

use std::path::{Path, PathBuf};

use treenail::client::{ServerCommand, Stderr};

/// Returns the path of a file in `tests`.
fn test_file(name: &str) -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let file = tests.join(name);
    assert!(
        file.exists(),
        "{} does not exist; run `tests/install`",
        file.display()
    );
    file
}

/// Returns the path of a program in this folder.
pub(crate) fn program(name: &str) -> PathBuf {
    test_file(&format!("servers/{name}"))
}

/// Returns the path of a reference server from npm.
pub(crate) fn reference_program(name: &str) -> PathBuf {
    program(&format!(
        "node_modules/@modelcontextprotocol/server-{name}/dist/index.js"
    ))
}

/// Returns the command for a program in this folder that runs on Node.js.
pub(crate) fn node(name: &str) -> ServerCommand {
    ServerCommand::new("node").arg(program(name))
}

/// Captures standard error of the server, so that it is printed if the test fails.
pub(crate) fn with_captured_stderr(server: ServerCommand) -> ServerCommand {
    server.stderr(Stderr::lines(print_line))
}

#[allow(
    clippy::print_stderr,
    reason = "the test harness captures standard error"
)]
pub(crate) fn print_line(line: &str) {
    eprintln!("server: {line}");
}

/// Returns the command for a reference server from npm.
pub(crate) fn reference(name: &str) -> ServerCommand {
    with_captured_stderr(ServerCommand::new("node").arg(reference_program(name)))
}

/// Returns the command for a program in this folder that runs on Python, with the SDK of the interoperability tests.
pub(crate) fn python(name: &str) -> ServerCommand {
    let python = test_file("interop/.venv/bin/python");
    ServerCommand::new(python).arg(program(name))
}
