//! Project with a build command, whose server is the test server in the mode that a file names.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use tempfile::TempDir;
use tokio::sync::Notify;
use tokio::task::spawn_blocking;
use treenail::McpClient;
use treenail::client::{ServerCommand, Stderr};
use treenail::schema::Revision;

use crate::process::test_server;

/// Directory with the sources of a server.
pub(super) struct Project {
    directory: TempDir,
    pub(super) stderr: Lines,
}

/// Server that waits before it starts.
pub(super) struct Start(File);

impl Start {
    /// Lets the server start.
    pub(super) fn go(mut self) {
        self.0.write_all(b"go\n").unwrap();
    }
}

/// Lines of standard error.
#[derive(Clone, Default)]
pub(super) struct Lines(Arc<(Mutex<Vec<String>>, Notify)>);

impl Project {
    /// Creates a project whose server runs in `mode`.
    pub(super) fn new(mode: &str) -> Self {
        let project = Self {
            directory: tempfile::tempdir().unwrap(),
            stderr: Lines::default(),
        };
        let build = "if grep -q broken source; then echo 'error: expected a mode' >&2; exit 1; fi\ncp source built\n";
        project.write("build.sh", build);
        project.write("run.sh", &Self::run_script(""));
        project.write("source", mode);
        project
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Replaces a file, as editors do.
    pub(super) fn write(&self, name: &str, text: &str) {
        let new = self.path(".new");
        fs::write(&new, text).unwrap();
        fs::rename(new, self.path(name)).unwrap();
    }

    pub(super) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// Returns a script that starts the server after `condition`.
    pub(super) fn run_script(condition: &str) -> String {
        let server = test_server();
        format!(
            "echo $$ > pid\n{condition}\nexec {} $(cat built) \"$@\"\n",
            server.display()
        )
    }

    /// Makes further servers wait for `Start::go`.
    pub(super) fn hold_starts(&self) {
        let made = Command::new("mkfifo").arg(self.path("gate")).status();
        assert!(made.unwrap().success());
        self.write("run.sh", &Self::run_script("read go < gate"));
    }

    /// Waits until a server is being started.
    pub(super) async fn wait_for_start(&self) -> Start {
        let gate = self.path("gate");
        // A pipe is opened when its reader has opened it.
        let opened = spawn_blocking(|| OpenOptions::new().write(true).open(gate));
        Start(opened.await.unwrap().unwrap())
    }

    /// Returns the id of the running server.
    pub(super) fn server_id(&self) -> Pid {
        self.process("pid")
    }

    /// Returns the id of a process from a file.
    pub(super) fn process(&self, file: &str) -> Pid {
        let text = fs::read_to_string(self.path(file)).unwrap();
        Pid::from_raw(text.trim().parse().unwrap()).unwrap()
    }

    pub(super) fn kill_server(&self) {
        kill_process(self.server_id(), Signal::KILL).unwrap();
    }

    /// Returns the command of `treenail dev` in the project.
    pub(super) fn command(&self, options: &[&str]) -> ServerCommand {
        let build = ["dev", "--build", "sh build.sh", "--watch", "source"];
        self.dev(&[&build[..], options, &["--", "sh", "run.sh"]].concat())
    }

    /// Returns a command of the program in the project, with all its variables.
    pub(super) fn dev(&self, words: &[&str]) -> ServerCommand {
        let lines = self.stderr.clone();
        ServerCommand::new(env!("CARGO_BIN_EXE_treenail"))
            .args(words)
            .current_dir(self.directory.path())
            .inherit_env()
            .stderr(Stderr::lines(move |line| lines.push(line)))
    }

    /// Connects to `treenail dev`.
    pub(super) async fn connect(&self, revision: Revision) -> McpClient {
        connect(self.command(&[]), revision).await
    }
}

pub(super) async fn connect(command: ServerCommand, revision: Revision) -> McpClient {
    let client = McpClient::builder().command(command);
    client.protocol_version(revision).build().await.unwrap()
}

/// Returns the description of a tool.
pub(super) async fn description(client: &McpClient, tool: &str) -> String {
    let tools = client.tools().await.unwrap();
    let found = tools.iter().find(|it| it.name == tool);
    found.unwrap().description.clone().unwrap()
}

pub(super) fn is_running(process: Pid) -> bool {
    test_kill_process(process).is_ok()
}

impl Lines {
    fn push(&self, line: &str) {
        self.lines().push(line.to_owned());
        self.0.1.notify_waiters();
    }

    /// Waits until `count` lines contain `text`.
    pub(super) async fn wait_for(&self, text: &str, count: usize) {
        loop {
            let notified = self.0.1.notified();
            let found = self
                .lines()
                .iter()
                .filter(|line| line.contains(text))
                .count();
            if found >= count {
                return;
            }
            notified.await;
        }
    }

    pub(super) fn contain(&self, text: &str) -> bool {
        self.lines().iter().any(|line| line.contains(text))
    }

    fn lines(&self) -> std::sync::MutexGuard<'_, Vec<String>> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
