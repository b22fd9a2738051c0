//! Client programs, and the servers that they use.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

/// Transport between client and server.
#[derive(Clone, Copy)]
pub(crate) enum Transport {
    /// The client starts the server as a child process.
    Stdio,
    /// The server is already running.
    Http,
}

/// Client and its program.
pub(crate) struct Client {
    command: Command,
    label: String,
}

impl Client {
    /// Returns `program` in the language of the client.
    pub(crate) fn new(program: &str, client: &str) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/interop");
        let (runner, installed, extension) = if client.starts_with("python") {
            (venv_python(&folder), folder.join(".venv/installed"), "py")
        } else {
            let installed = folder.join("node_modules/.installed");
            ("node".into(), installed, "mjs")
        };
        assert!(
            installed.is_file(),
            "the clients are not installed; run `tests/install`"
        );
        let file = format!("{program}.{extension}");
        let label = format!("{file} {client}");
        let mut command = Command::new(runner);
        command.args([&file, client]).current_dir(folder);
        Self { command, label }
    }

    /// Adds an argument before the server.
    pub(crate) fn argument(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.command.arg(argument);
        self
    }

    /// Runs the program against an example.
    pub(crate) fn use_example(mut self, example: &str, arguments: &[&OsStr], transport: Transport) {
        let example = built_example(example);
        match transport {
            Transport::Stdio => {
                self.command.arg(example).args(arguments);
                self.run();
            }
            Transport::Http => {
                let mut server = HttpServer::start(&example, arguments);
                self.command.arg(&server.url);
                self.run();
                server.assert_running();
            }
        }
    }

    /// Runs the program, which prints one line per check, and a last line with the number of checks.
    pub(crate) fn run(mut self) {
        let label = self.label;
        let output = self.command.stdin(Stdio::null()).output();
        let output = output.unwrap_or_else(|error| panic!("could not start `{label}`: {error}"));
        let printed = String::from_utf8_lossy(&output.stdout);
        let lines: Vec<Value> = printed
            .lines()
            .map_while(|line| line.parse().ok())
            .collect();
        let passed = lines.iter().filter(|line| line["ok"] == true).count();
        let counted = lines.last().map(|last| last["checks"].clone());
        assert!(
            output.status.success() && passed > 0 && counted == Some(passed.into()),
            "`{label}` failed ({})\n{printed}{}",
            output.status,
            String::from_utf8_lossy(&output.stderr),
        );
    }
}

/// HTTP server that stops on drop.
struct HttpServer {
    process: Child,
    url: String,
}

impl HttpServer {
    /// Starts an example on a free port, and reads its URL from its output.
    fn start(example: &Path, arguments: &[&OsStr]) -> Self {
        let mut process = Command::new(example)
            .args(["--http", "127.0.0.1:0"])
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the example can be started");
        let output = process.stderr.take().expect("standard error is piped");
        let mut server = Self {
            process,
            url: String::new(),
        };
        let read = BufReader::new(output).read_line(&mut server.url);
        read.expect("standard error is UTF-8");
        server.url.truncate(server.url.trim_end().len());
        let url = &server.url;
        assert!(url.starts_with("http://"), "expected a URL, got {url:?}");
        server
    }

    fn assert_running(&mut self) {
        let status = self
            .process
            .try_wait()
            .expect("the status of a child can be read");
        assert!(status.is_none(), "the server has exited: {status:?}");
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        // The process may have exited already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

pub(crate) fn venv_python(folder: &Path) -> OsString {
    let python = if cfg!(windows) {
        "Scripts/python.exe"
    } else {
        "bin/python"
    };
    folder.join(".venv").join(python).into()
}

/// Returns the path of an example next to this test binary. `cargo test` builds it first; `cargo test --test interop`
/// does not, and uses the last build.
fn built_example(name: &str) -> PathBuf {
    let test = env::current_exe().expect("this test binary has a path");
    let profile = test
        .ancestors()
        .nth(2)
        .expect("target/<profile>/deps/<test binary>");
    let file = format!("{name}{}", env::consts::EXE_SUFFIX);
    let example = profile.join("examples").join(file);
    assert!(
        example.is_file(),
        "the example is not built; run `cargo build --example {name}`"
    );
    example
}
