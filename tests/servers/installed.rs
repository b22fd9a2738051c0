//! What `tests/servers/install` has installed, and how it is started.

use std::path::{Path, PathBuf};

use treenail::client::{ServerCommand, Stderr};

/// Where a file beside the tests is.
fn file(name: &str) -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let file = tests.join(name);
    assert!(
        file.exists(),
        "{} is not there; run `tests/install`",
        file.display()
    );
    file
}

/// Where a program of this folder is.
pub(crate) fn program(name: &str) -> PathBuf {
    file(&format!("servers/{name}"))
}

/// Where a reference server of the npm registry is.
pub(crate) fn reference_program(name: &str) -> PathBuf {
    program(&format!(
        "node_modules/@modelcontextprotocol/server-{name}/dist/index.js"
    ))
}

/// A program of this folder for Node.js.
pub(crate) fn node(name: &str) -> ServerCommand {
    ServerCommand::new("node").arg(program(name))
}

/// What the server writes to standard error is shown if the test fails.
pub(crate) fn heard(server: ServerCommand) -> ServerCommand {
    server.stderr(Stderr::lines(show))
}

#[allow(clippy::print_stderr, reason = "that is where tests show things")]
pub(crate) fn show(line: &str) {
    eprintln!("server: {line}");
}

/// A reference server of the npm registry.
pub(crate) fn reference(name: &str) -> ServerCommand {
    heard(ServerCommand::new("node").arg(reference_program(name)))
}

/// A program of this folder for Python, with the SDK that the tests of its client use too.
pub(crate) fn python(name: &str) -> ServerCommand {
    let python = file("interop/.venv/bin/python");
    ServerCommand::new(python).arg(program(name))
}
