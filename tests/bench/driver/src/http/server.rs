//! The HTTP servers that are compared, and one that runs.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::Result;

/// A server program, and what it is called in tables.
#[derive(Clone, Copy)]
pub(crate) struct Program {
    pub(crate) name: &'static str,
    pub(crate) file: &'static str,
    argument: Option<&'static str>,
    /// Whether it calls the tool; the others always answer the same.
    pub(crate) calls: bool,
    /// It is given one request where the others are given so many.
    pub(crate) patience: usize,
}

/// The first one is what the others are counted from, the last one rmcp as its documentation sets it up.
const ALL: [Program; 5] = [
    Program {
        calls: false,
        ..program("hyper, fixed bytes", "hyper-http")
    },
    Program {
        argument: Some("--unread"),
        calls: false,
        ..program("hyper, fixed bytes, body not read", "hyper-http")
    },
    program("Treenail", "treenail-http"),
    program(
        "rmcp, JSON, no sessions, no delay, one thread",
        "rmcp-http-best",
    ),
    Program {
        patience: 20,
        ..program("rmcp", "rmcp-http")
    },
];

const fn program(name: &'static str, file: &'static str) -> Program {
    Program {
        name,
        file,
        argument: None,
        calls: true,
        patience: 1,
    }
}

/// The programs that are built.
pub(crate) fn programs() -> Vec<Program> {
    ALL.into_iter().filter(|it| it.path().is_ok()).collect()
}

/// A server that runs until this is dropped.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: SocketAddr,
}

impl Program {
    /// Starts the program as the last argument of `tool`, a command that may be empty.
    pub(crate) fn start(self, tool: &[String]) -> Result<Server> {
        let path = self.path()?.into_os_string();
        let mut words = tool.iter().map(Into::into).chain([path]);
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words).args(self.argument);
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{command:?}: {error}"))?;
        let stdout = child.stdout.take().ok_or("its output is not piped")?;
        let mut url = String::new();
        BufReader::new(stdout).read_line(&mut url)?;
        let address = url
            .trim_end()
            .strip_prefix("http://")
            .and_then(|url| url.strip_suffix("/mcp"))
            .ok_or("a server does not say where it is")?;
        Ok(Server {
            child,
            address: address.parse()?,
        })
    }

    /// The program beside this one.
    fn path(self) -> Result<PathBuf> {
        let path = env::current_exe()?.with_file_name(self.file);
        if path.exists() {
            Ok(path)
        } else {
            Err(format!("{} is not built", path.display()).into())
        }
    }
}

impl Server {
    /// The CPU time of all its threads so far.
    pub(crate) fn cpu(&self) -> Result<Duration> {
        let mut nanoseconds = 0;
        for thread in fs::read_dir(format!("/proc/{}/task", self.child.id()))? {
            let statistics = fs::read_to_string(thread?.path().join("schedstat"))?;
            let running = statistics.split(' ').next().unwrap_or_default();
            nanoseconds += running.parse::<u64>()?;
        }
        Ok(Duration::from_nanos(nanoseconds))
    }

    /// Asks it to end, so that a tool around it writes what it has counted.
    pub(crate) fn stop(mut self) -> Result<()> {
        let id = self.child.id().to_string();
        Command::new("kill").args(["-TERM", &id]).status()?;
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
