//! Runs the program and collects its output.

use std::env;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Exit code and output of the program.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Outcome {
    /// Asserts the exit code and the output.
    #[track_caller]
    pub(crate) fn check(&self, code: i32, stdout: &str, stderr: &str) {
        assert_eq!(
            (self.code, &*self.stdout, &*self.stderr),
            (code, stdout, stderr)
        );
    }
}

/// Returns the program with the given arguments, and `server` as the program to start.
pub(crate) fn command(server: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_treenail"));
    command.args(args).arg("--").arg(server);
    command.env_remove("CLICOLOR_FORCE");
    command
}

/// Runs the program with the test server.
pub(crate) fn run(args: &[&str]) -> Outcome {
    let mut command = command(&test_server(), args);
    outcome_of(command.stdin(Stdio::null()).output().unwrap())
}

/// Runs the program with the test server and with `input` on standard input.
pub(crate) fn run_with_input(args: &[&str], input: &str) -> Outcome {
    let mut command = command(&test_server(), args);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    outcome_of(child.wait_with_output().unwrap())
}

/// Runs the program without a server after `--`.
pub(crate) fn run_alone(args: &[&str]) -> Outcome {
    let mut command = Command::new(env!("CARGO_BIN_EXE_treenail"));
    // Tokens of the developer are not used.
    command.env("XDG_DATA_HOME", env!("CARGO_TARGET_TMPDIR"));
    outcome_of(command.args(args).stdin(Stdio::null()).output().unwrap())
}

pub(crate) fn outcome_of(output: Output) -> Outcome {
    Outcome {
        code: output
            .status
            .code()
            .expect("the program was not killed by a signal"),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

pub(crate) fn test_server() -> PathBuf {
    example("cli-test-server", "cargo build -p treenail-cli --examples")
}

/// Returns the path of an example in the repository. `cargo test --workspace` builds examples; `cargo test -p treenail-cli`
/// does not.
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
