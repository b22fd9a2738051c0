//! What `tests/servers/install` has installed, and how it is started.

use std::path::{Path, PathBuf};

use treenail::client::{ServerCommand, Stderr};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/servers")
}

/// A program of this folder for Node.js.
pub(crate) fn node(program: &str) -> ServerCommand {
    let program = folder().join(program);
    assert!(
        program.is_file(),
        "{} is not there; run `tests/servers/install`",
        program.display()
    );
    ServerCommand::new("node").arg(program)
}

/// What the server writes to standard error is shown if the test fails.
pub(crate) fn heard(server: ServerCommand) -> ServerCommand {
    server.stderr(Stderr::lines(|line| eprintln!("server: {line}")))
}

/// A reference server of the npm registry.
pub(crate) fn reference(name: &str) -> ServerCommand {
    let program = format!("node_modules/@modelcontextprotocol/server-{name}/dist/index.js");
    heard(node(&program))
}

/// A program of this folder for Python.
pub(crate) fn python(program: &str) -> ServerCommand {
    let python = folder().join(".venv/bin/python");
    assert!(
        python.exists(),
        "the Python environment is not there; run `tests/servers/install`"
    );
    ServerCommand::new(python).arg(folder().join(program))
}
