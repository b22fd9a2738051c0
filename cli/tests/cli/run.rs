//! Running the program.

use std::env;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// What came of it.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ended {
    /// Fails unless it printed this, said that, and ended with this code.
    #[track_caller]
    pub(crate) fn check(&self, code: i32, stdout: &str, stderr: &str) {
        assert_eq!(
            (self.code, &*self.stdout, &*self.stderr),
            (code, stdout, stderr)
        );
    }
}

/// The program, with `server` to start: what stands before `--`.
pub(crate) fn command(server: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_treenail"));
    command.args(args).arg("--").arg(server);
    command.env_remove("CLICOLOR_FORCE");
    command
}

/// Runs the program with the server of these tests.
pub(crate) fn run(args: &[&str]) -> Ended {
    let mut command = command(&test_server(), args);
    ended(command.stdin(Stdio::null()).output().unwrap())
}

/// Runs it with something on standard input.
pub(crate) fn run_with_input(args: &[&str], input: &str) -> Ended {
    let mut command = command(&test_server(), args);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    ended(child.wait_with_output().unwrap())
}

/// Runs the program as it is, without a server behind `--`.
pub(crate) fn run_alone(args: &[&str]) -> Ended {
    let mut command = Command::new(env!("CARGO_BIN_EXE_treenail"));
    ended(command.args(args).stdin(Stdio::null()).output().unwrap())
}

pub(crate) fn ended(output: Output) -> Ended {
    Ended {
        code: output.status.code().expect("it ends by itself"),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

pub(crate) fn test_server() -> PathBuf {
    example("cli-test-server", "cargo build -p treenail-cli --examples")
}

/// An example of the repository. `cargo test --workspace` builds it first; `cargo test -p treenail-cli` does not.
pub(crate) fn repository_example(name: &str) -> PathBuf {
    example(name, &format!("cargo build --example {name}"))
}

fn example(name: &str, build: &str) -> PathBuf {
    let program = Path::new(env!("CARGO_BIN_EXE_treenail"));
    let file = format!("{name}{}", env::consts::EXE_SUFFIX);
    let example = program.with_file_name("examples").join(file);
    assert!(example.is_file(), "the example is not built; run `{build}`");
    example
}
