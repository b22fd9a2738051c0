//! The HTTP servers that are compared, and one that runs.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::Result;
use crate::dialect::Era;

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

/// Programs on the threads of `#[tokio::main]`. Each of the first two is the floor of the programs that are served in the same way.
const THREADS: [Program; 7] = [
    Program {
        calls: false,
        ..program("hyper, fixed bytes", "hyper-http-threads")
    },
    Program {
        calls: false,
        ..program("axum, fixed bytes", "axum-http")
    },
    program("Treenail", "treenail-http-threads"),
    program("Treenail in axum", "treenail-axum"),
    program(
        "rmcp in axum, JSON, no sessions, no delay",
        "rmcp-http-threads",
    ),
    Program {
        argument: Some("--sessions"),
        ..program("rmcp in axum, JSON, no delay", "rmcp-http-threads")
    },
    Program {
        patience: 20,
        ..program("rmcp in axum", "rmcp-http")
    },
];

/// Programs on these threads that serve the legacy era without sessions.
const WITHOUT_SESSIONS: [Program; 2] = [
    Program {
        argument: Some("--no-sessions"),
        ..program("Treenail, no sessions", "treenail-http-threads")
    },
    Program {
        argument: Some("--no-sessions"),
        ..program("Treenail in axum, no sessions", "treenail-axum")
    },
];

/// Programs with room for many clients.
const IDLE: [Program; 2] = [
    program("Treenail", "treenail-http-idle"),
    Program {
        argument: Some("--sessions"),
        ..program("rmcp in axum, JSON, no delay", "rmcp-http-threads")
    },
];

const BACKEND: Program = program("service", "bench-backend");

/// The programs that are built.
pub(crate) fn programs() -> Vec<Program> {
    are_built(&ALL)
}

/// The programs with threads that are built.
pub(crate) fn with_threads() -> Vec<Program> {
    are_built(&THREADS)
}

/// The programs with threads that ask a service, and are built. The modern era has no sessions to leave out.
pub(crate) fn with_io(era: Era) -> Vec<Program> {
    let mut programs = match era {
        Era::Legacy => are_built(&WITHOUT_SESSIONS),
        Era::Modern | Era::ModernWithProgress => Vec::new(),
    };
    let asks = |it: &Program| it.calls && it.patience == 1;
    programs.extend(with_threads().into_iter().filter(asks));
    programs
}

/// The programs with room for many clients that are built.
pub(crate) fn with_room() -> Vec<Program> {
    are_built(&IDLE)
}

/// Starts the service that the programs ask.
pub(crate) fn backend() -> Result<Server> {
    BACKEND.start(&[])
}

fn are_built(programs: &[Program]) -> Vec<Program> {
    let built = programs.iter().filter(|it| it.path().is_ok());
    built.copied().collect()
}

/// A server that runs until this is dropped.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: SocketAddr,
}

impl Program {
    /// Starts the program as the last argument of `tool`, a command that may be empty.
    pub(crate) fn start(self, tool: &[String]) -> Result<Server> {
        self.start_with(tool, None)
    }

    /// Starts the program with an argument before its own.
    pub(crate) fn start_with(self, tool: &[String], argument: Option<String>) -> Result<Server> {
        let path = self.path()?.into_os_string();
        let mut words = tool.iter().map(Into::into).chain([path]);
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words).args(argument).args(self.argument);
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

    /// Number of waits of its threads so far, each of which is a wake-up.
    pub(crate) fn waits(&self) -> Result<u64> {
        let mut waits = 0;
        for thread in fs::read_dir(format!("/proc/{}/task", self.child.id()))? {
            let status = fs::read_to_string(thread?.path().join("status"))?;
            let mut lines = status.lines();
            let count = lines.find_map(|it| it.strip_prefix("voluntary_ctxt_switches:"));
            waits += count.unwrap_or_default().trim().parse::<u64>()?;
        }
        Ok(waits)
    }

    /// The kilobytes of its memory in RAM now.
    pub(crate) fn memory(&self) -> Result<f64> {
        self.status("VmRSS:")
    }

    /// The most kilobytes of its memory in RAM so far.
    pub(crate) fn peak_memory(&self) -> Result<f64> {
        self.status("VmHWM:")
    }

    fn status(&self, name: &str) -> Result<f64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|it| it.strip_prefix(name));
        let kilobytes = line.and_then(|it| it.trim().strip_suffix(" kB"));
        Ok(kilobytes.ok_or("no memory in its status")?.parse()?)
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
