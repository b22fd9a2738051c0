//! The programs of the clients, and the servers that they use.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

/// How a client reaches its server.
#[derive(Clone, Copy)]
pub(crate) enum Over {
    /// The client starts the server.
    Stdio,
    /// The server runs already.
    Http,
}

/// One client, and the program that it runs.
pub(crate) struct Client {
    command: Command,
    shown: String,
}

impl Client {
    /// `program`, in the language of the client.
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
        let shown = format!("{file} {client}");
        let mut command = Command::new(runner);
        command.args([&file, client]).current_dir(folder);
        Self { command, shown }
    }

    /// An argument before the server.
    pub(crate) fn argument(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.command.arg(argument);
        self
    }

    /// Runs the program against an example.
    pub(crate) fn use_example(mut self, example: &str, arguments: &[&OsStr], over: Over) {
        let example = built(example);
        match over {
            Over::Stdio => {
                self.command.arg(example).args(arguments);
                self.run();
            }
            Over::Http => {
                let mut server = HttpServer::start(&example, arguments);
                self.command.arg(&server.url);
                self.run();
                server.is_running();
            }
        }
    }

    /// Runs the program, which prints one line for each check, and at the end one that counts them.
    fn run(mut self) {
        let shown = self.shown;
        let output = self.command.stdin(Stdio::null()).output();
        let output = output.unwrap_or_else(|error| panic!("`{shown}` does not start: {error}"));
        let printed = String::from_utf8_lossy(&output.stdout);
        let lines: Vec<Value> = printed
            .lines()
            .map_while(|line| line.parse().ok())
            .collect();
        let passed = lines.iter().filter(|line| line["ok"] == true).count();
        let counted = lines.last().map(|last| last["checks"].clone());
        assert!(
            output.status.success() && passed > 0 && counted == Some(passed.into()),
            "`{shown}` failed ({})\n{printed}{}",
            output.status,
            String::from_utf8_lossy(&output.stderr),
        );
    }
}

/// A server that runs until this is dropped.
struct HttpServer {
    process: Child,
    url: String,
}

impl HttpServer {
    /// Starts an example at a port that is free, and reads from it where it is.
    fn start(example: &Path, arguments: &[&OsStr]) -> Self {
        let mut process = Command::new(example)
            .args(["--http", "127.0.0.1:0"])
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the example starts");
        let output = process.stderr.take().expect("its output is piped");
        let mut server = Self {
            process,
            url: String::new(),
        };
        let read = BufReader::new(output).read_line(&mut server.url);
        read.expect("its output is text");
        server.url.truncate(server.url.trim_end().len());
        let url = &server.url;
        assert!(url.starts_with("http://"), "it says where it is: {url:?}");
        server
    }

    fn is_running(&mut self) {
        let ended = self.process.try_wait().expect("it is a child");
        assert!(ended.is_none(), "the server has ended: {ended:?}");
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn venv_python(folder: &Path) -> OsString {
    let python = if cfg!(windows) {
        "Scripts/python.exe"
    } else {
        "bin/python"
    };
    folder.join(".venv").join(python).into()
}

/// The example beside this test binary. `cargo test` builds it first; `cargo test --test interop` does
/// not, and runs the one that is there.
fn built(name: &str) -> PathBuf {
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
