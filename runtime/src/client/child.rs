//! Servers as child processes.

use std::ffi::OsStr;
use std::fmt;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

use crate::client::line::{Epilogue, LineSession};
use crate::client::{ClientError, ClientLimits};
use crate::wire::{Frame, LineBuffer};

/// Bytes of one line of standard error; a longer one is told to be too long.
const STDERR_LINE: usize = 16 * 1024;

/// How to start a server that speaks over its standard streams.
///
/// ```
/// use treenail_runtime::client::{ServerCommand, Stderr};
///
/// let command = ServerCommand::new("npx")
///     .args(["-y", "@modelcontextprotocol/server-everything"])
///     .env("LOG_LEVEL", "debug")
///     .stderr(Stderr::lines(|line| eprintln!("server: {line}")));
/// ```
///
/// The server is a process group of its own. When the session is closed, its input is closed; if it does not end within
/// [`ClientLimits::shutdown_within`] it gets SIGTERM, and after that time again SIGKILL (on Windows it is terminated at
/// once). A session that is dropped does the same in the background, as long as the runtime lives; when that ends first,
/// the server is killed.
#[derive(Clone)]
pub struct ServerCommand {
    program: std::ffi::OsString,
    args: Vec<std::ffi::OsString>,
    env: Vec<(std::ffi::OsString, Option<std::ffi::OsString>)>,
    current_dir: Option<std::path::PathBuf>,
    stderr: Stderr,
}

/// What becomes of what a server writes to standard error. It is for people, and not a sign of an error.
#[derive(Clone, Default)]
#[non_exhaustive]
pub enum Stderr {
    /// It goes to standard error of this process.
    #[default]
    Inherit,
    /// Nobody sees it.
    Null,
    /// Each line, without its end, goes to a function, which must not wait.
    Lines(Arc<dyn Fn(&str) + Send + Sync>),
}

impl Stderr {
    /// Passes each line to a function, which must not wait.
    pub fn lines(take: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self::Lines(Arc::new(take))
    }
}

impl fmt::Debug for Stderr {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Inherit => "Inherit",
            Self::Null => "Null",
            Self::Lines(_) => "Lines",
        })
    }
}

/// Arguments and environment may hold secrets, so only the program is shown.
impl fmt::Debug for ServerCommand {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("ServerCommand");
        shown
            .field("program", &self.program)
            .finish_non_exhaustive()
    }
}

impl From<&str> for ServerCommand {
    fn from(program: &str) -> Self {
        Self::new(program)
    }
}

impl From<&Path> for ServerCommand {
    fn from(program: &Path) -> Self {
        Self::new(program)
    }
}

impl ServerCommand {
    /// Starts `program`, which is looked for as a shell would, without arguments.
    pub fn new(program: impl AsRef<OsStr>) -> Self {
        Self {
            program: program.as_ref().to_owned(),
            args: Vec::new(),
            env: Vec::new(),
            current_dir: None,
            stderr: Stderr::default(),
        }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args(self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        args.into_iter().fold(self, Self::arg)
    }

    /// Sets a variable of the environment, which is otherwise that of this process.
    #[must_use]
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        let value = Some(value.as_ref().to_owned());
        self.env.push((name.as_ref().to_owned(), value));
        self
    }

    /// Takes a variable out of the environment.
    #[must_use]
    pub fn env_remove(mut self, name: impl AsRef<OsStr>) -> Self {
        self.env.push((name.as_ref().to_owned(), None));
        self
    }

    /// Sets the working directory, which is otherwise that of this process.
    #[must_use]
    pub fn current_dir(mut self, directory: impl AsRef<Path>) -> Self {
        self.current_dir = Some(directory.as_ref().to_owned());
        self
    }

    /// Sets what becomes of standard error. Default: it goes to that of this process.
    #[must_use]
    pub fn stderr(mut self, stderr: Stderr) -> Self {
        self.stderr = stderr;
        self
    }

    /// Starts the server, and a session with it.
    ///
    /// # Errors
    ///
    /// [`ClientError::Closed`] if the program cannot be started.
    pub fn start(&self, limits: &ClientLimits) -> Result<LineSession, ClientError> {
        let (stdout, stdin, epilogue) = self.open(limits)?;
        Ok(LineSession::with_epilogue(stdout, stdin, limits, epilogue))
    }

    /// Starts the server: its streams, and what is to be done when they have ended.
    pub(crate) fn open(
        &self,
        limits: &ClientLimits,
    ) -> Result<(ChildStdout, ChildStdin, Epilogue), ClientError> {
        let mut child = self.command().spawn().map_err(|error| {
            let program = self.program.to_string_lossy();
            ClientError::closed(format!("`{program}` cannot be started: {error}"))
        })?;
        if let (Stderr::Lines(take), Some(stderr)) = (&self.stderr, child.stderr.take()) {
            tokio::spawn(pass_lines(stderr, Arc::clone(take)));
        }
        let (Some(stdout), Some(stdin)) = (child.stdout.take(), child.stdin.take()) else {
            return Err(ClientError::closed("the server has no standard streams"));
        };
        Ok((stdout, stdin, end(child, limits.shutdown_within)))
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.args);
        for (name, value) in &self.env {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        if let Some(directory) = &self.current_dir {
            command.current_dir(directory);
        }
        #[cfg(unix)]
        command.process_group(0);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(match self.stderr {
                Stderr::Inherit => Stdio::inherit(),
                Stderr::Null => Stdio::null(),
                Stderr::Lines(_) => Stdio::piped(),
            })
            .kill_on_drop(true);
        command
    }
}

/// Waits for the end of a server whose input has been closed, and makes sure of it.
fn end(mut child: Child, within: Duration) -> Epilogue {
    Box::pin(async move {
        if let Ok(ended) = timeout(within, child.wait()).await {
            return match ended {
                Ok(status) => exited(status),
                Err(error) => format!("the server cannot be waited for: {error}"),
            };
        }
        if signal(&child, Signal::Terminate) && timeout(within, child.wait()).await.is_ok() {
            return "the server did not end by itself and was told to terminate".to_owned();
        }
        signal(&child, Signal::Kill);
        if let Err(error) = child.kill().await {
            tracing::warn!(%error, "a server cannot be killed");
        }
        "the server did not end by itself and was killed".to_owned()
    })
}

fn exited(status: ExitStatus) -> String {
    match status.code() {
        Some(code) => format!("the server has exited with status {code}"),
        None => format!("the server has ended: {status}"),
    }
}

#[derive(Clone, Copy)]
enum Signal {
    Terminate,
    Kill,
}

/// Sends a signal to a server and its own children; whether that was possible.
#[cfg(unix)]
fn signal(child: &Child, signal: Signal) -> bool {
    use rustix::process::{Pid, Signal as Unix, kill_process_group};

    let id = child.id().and_then(|id| i32::try_from(id).ok());
    let Some(group) = id.and_then(Pid::from_raw) else {
        return false;
    };
    let signal = match signal {
        Signal::Terminate => Unix::TERM,
        Signal::Kill => Unix::KILL,
    };
    kill_process_group(group, signal).is_ok()
}

#[cfg(not(unix))]
fn signal(_: &Child, _: Signal) -> bool {
    false
}

/// Passes on the lines of standard error.
async fn pass_lines(mut stderr: impl AsyncRead + Unpin, take: Arc<dyn Fn(&str) + Send + Sync>) {
    let mut lines = LineBuffer::new(STDERR_LINE);
    loop {
        let count = stderr.read(lines.room()).await.unwrap_or(0);
        lines.advance(count);
        while let Some(frame) = lines.next() {
            pass_line(frame, &*take);
        }
        if count == 0 {
            break;
        }
    }
    if let Some(frame) = lines.last() {
        pass_line(frame, &*take);
    }
}

fn pass_line(frame: Frame<'_>, take: &dyn Fn(&str)) {
    match frame {
        Frame::Line(line) => take(String::from_utf8_lossy(line).trim_end()),
        Frame::TooLong { .. } => take("[a line that is too long]"),
    }
}
