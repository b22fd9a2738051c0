//! The servers that are compared, and one that runs.

use std::env;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::time::Duration;

use crate::Result;
use crate::dialect::Era;

/// A server program, and what it is called in tables.
#[derive(Clone, Copy)]
pub(crate) struct Program {
    pub(crate) name: &'static str,
    pub(crate) file: &'static str,
    argument: Option<&'static str>,
    streams: Streams,
}

/// What the standard streams of a server are.
#[derive(Clone, Copy, Default)]
pub(crate) enum Streams {
    #[default]
    Pipes,
    /// Unix sockets, as Node gives to its children.
    Sockets,
}

const fn program(name: &'static str, file: &'static str) -> Program {
    Program {
        name,
        file,
        argument: None,
        streams: Streams::Pipes,
    }
}

const FLOOR: Program = program("floor", "floor-server");
const TREENAIL: Program = program("Treenail", "treenail-server");
const RMCP_PIPES: Program = program("rmcp, non-blocking pipes, one thread", "rmcp-pipes");
const RMCP: Program = program("rmcp", "rmcp-server");

/// Servers with one tool; the first one is the floor, the last one rmcp as its documentation sets it up.
const ADD: [Program; 4] = [FLOOR, TREENAIL, RMCP_PIPES, RMCP];

const STRUCT: Program = program("Treenail, struct", "treenail-struct");

/// The same, and one whose tool returns a struct.
const ADD_AND_STRUCT: [Program; 5] = [FLOOR, TREENAIL, STRUCT, RMCP_PIPES, RMCP];

/// Treenail with a tool that returns a struct, takes a context, or is made at run time, and with telemetry without an exporter.
const VARIANTS: [Program; 5] = [
    TREENAIL,
    STRUCT,
    program("Treenail, telemetry", "treenail-otel-server"),
    program("Treenail, context", "treenail-context"),
    program("Treenail, run time", "treenail-dynamic"),
];

/// Servers with 1,000 tools.
const MANY: [Program; 4] = [
    Program {
        argument: Some("1000"),
        ..program("floor", "floor-server")
    },
    program("Treenail", "treenail-many"),
    Program {
        argument: Some("text"),
        ..program("Treenail, results as text", "treenail-many")
    },
    program("rmcp", "rmcp-many"),
];

/// Servers with a tool that runs as a task, by the place of their tasks.
const TASKS: [Program; 2] = [
    program("memory", "treenail-tasks"),
    Program {
        argument: Some("sqlite"),
        ..program("SQLite", "treenail-tasks")
    },
];

/// The servers with one tool that are built.
pub(crate) fn with_add(streams: Streams) -> Vec<Program> {
    let programs = are_built(&ADD).into_iter();
    programs.map(|it| Program { streams, ..it }).collect()
}

/// The servers with one tool that are built, and the one with a struct.
pub(crate) fn with_add_and_struct() -> Vec<Program> {
    are_built(&ADD_AND_STRUCT)
}

/// The variants of Treenail's server that are built.
pub(crate) fn with_variants() -> Vec<Program> {
    are_built(&VARIANTS)
}

/// The servers with 1,000 tools that are built.
pub(crate) fn with_many() -> Vec<Program> {
    are_built(&MANY)
}

/// The servers with tasks that are built.
pub(crate) fn with_tasks() -> Vec<Program> {
    are_built(&TASKS)
}

fn are_built(programs: &[Program]) -> Vec<Program> {
    let built = programs.iter().filter(|it| it.path().is_ok());
    built.copied().collect()
}

/// A server that runs, and has been greeted.
pub(crate) struct Server {
    child: Child,
    pub(crate) stdin: File,
    pub(crate) stdout: File,
}

impl Program {
    pub(crate) fn start(self, era: Era) -> Result<Server> {
        self.start_under(&[], era)
    }

    /// Starts the program as the last argument of `tool`, a command.
    pub(crate) fn start_under(self, tool: &[String], era: Era) -> Result<Server> {
        let path = self.path()?.into_os_string();
        let mut words = tool.iter().map(Into::into).chain([path]);
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words).args(self.argument);
        let (stdin, its_stdin) = self.streams.pair()?;
        let (its_stdout, stdout) = self.streams.pair()?;
        command.stdin(its_stdin).stdout(its_stdout);
        let child = command
            .spawn()
            .map_err(|error| format!("{command:?}: {error}"))?;
        // The ends that are the child's are closed here with the command that holds them.
        drop(command);
        let mut server = Server {
            child,
            stdin: File::from(stdin),
            stdout: File::from(stdout),
        };
        if let Some((initialize, initialized)) = era.handshake() {
            server.ask(initialize)?;
            server.tell(initialized)?;
        }
        Ok(server)
    }

    fn path(self) -> Result<PathBuf> {
        built(self.file)
    }
}

/// The path of a program beside this one.
pub(crate) fn built(file: &str) -> Result<PathBuf> {
    let path = env::current_exe()?.with_file_name(file);
    if path.exists() {
        Ok(path)
    } else {
        Err(format!("{} is not built", path.display()).into())
    }
}

impl Streams {
    /// Two ends, the first of them for writing.
    fn pair(self) -> Result<(OwnedFd, OwnedFd)> {
        Ok(match self {
            Self::Pipes => {
                let (reader, writer) = io::pipe()?;
                (writer.into(), reader.into())
            }
            Self::Sockets => {
                let (one, other) = UnixStream::pair()?;
                (one.into(), other.into())
            }
        })
    }
}

impl Server {
    /// Sends one line.
    pub(crate) fn tell(&mut self, line: &str) -> Result<()> {
        Ok(self.stdin.write_all(format!("{line}\n").as_bytes())?)
    }

    /// Sends one line and waits for the line that answers it.
    pub(crate) fn ask(&mut self, line: &str) -> Result<Vec<u8>> {
        self.tell(line)?;
        let (mut answer, mut chunk) = (Vec::new(), vec![0; 64 * 1024]);
        while answer.last() != Some(&b'\n') {
            match self.stdout.read(&mut chunk)? {
                0 => return Err("the server has ended".into()),
                count => answer.extend_from_slice(&chunk[..count]),
            }
        }
        Ok(answer)
    }

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

    /// Ends its input and waits for its end.
    pub(crate) fn stop(mut self) -> Result<()> {
        drop(self.stdin);
        drop(self.stdout);
        let status = self.child.wait()?;
        if status.success() {
            Ok(())
        } else {
            Err(format!("a server ended with {status}").into())
        }
    }
}
