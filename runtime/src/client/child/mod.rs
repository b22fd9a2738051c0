//! Servers as child processes.

mod environment;
mod process;
mod stderr;

use std::ffi::OsStr;
use std::fmt;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;

use tokio::process::{ChildStdin, ChildStdout, Command};

use self::environment::Environment;
pub use self::stderr::Stderr;
use self::stderr::pass_lines;
use crate::client::line::{Ending, LineSession};
use crate::client::stray::{StrayLines, StrayListener};
use crate::client::{ClientError, ClientLimits};

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
/// The server does not inherit the environment of this process, which may hold secrets, but a short list of variables, which
/// is that of the official SDKs: `HOME`, `LOGNAME`, `PATH`, `SHELL`, `TERM` and `USER`, or their counterparts on Windows.
/// [`env`](Self::env) adds to it, [`inherit_env`](Self::inherit_env) hands over everything.
///
/// The server is a process group of its own. When the session is closed, its input is closed; if it does not end within
/// [`ClientLimits::shutdown_timeout`] it gets SIGTERM, and after that time again SIGKILL (on Windows it is terminated at
/// once). A session that is dropped does the same in the background, as long as the runtime lives; when that ends first,
/// the server is killed. What the server has started itself and left in its group is killed when the server has ended.
///
/// A server that ends by itself ends the session: requests that wait fail with [`ClientError::Closed`], which tells its
/// exit status. It is not started again; that is the choice of the caller, who can use the same command for it.
#[derive(Clone)]
pub struct ServerCommand {
    program: std::ffi::OsString,
    args: Vec<std::ffi::OsString>,
    environment: Environment,
    current_dir: Option<std::path::PathBuf>,
    stderr: Stderr,
    stray: Option<StrayListener>,
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
            environment: Environment::default(),
            current_dir: None,
            stderr: Stderr::default(),
            stray: None,
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

    /// Sets a variable of the environment.
    #[must_use]
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.environment.change(name.as_ref(), Some(value.as_ref()));
        self
    }

    /// Removes a variable from the environment.
    #[must_use]
    pub fn env_remove(mut self, name: impl AsRef<OsStr>) -> Self {
        self.environment.change(name.as_ref(), None);
        self
    }

    /// Inherits the whole environment of this process, secrets included. [`env`](Self::env) and
    /// [`env_remove`](Self::env_remove) still apply.
    #[must_use]
    pub fn inherit_env(mut self) -> Self {
        self.environment.inherit_all();
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

    /// Passes lines of standard output that are no messages to a function, which must not wait; of a long line, the
    /// beginning. A server that prints by mistake is the usual cause when no connection can be opened. Without a function, a
    /// warning is logged.
    ///
    /// ```
    /// use treenail_runtime::client::ServerCommand;
    ///
    /// let command = ServerCommand::new("my-server")
    ///     .on_stray_line(|line| eprintln!("the server printed {line:?}"));
    /// ```
    #[must_use]
    pub fn on_stray_line(mut self, take: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.stray = Some(Arc::new(take));
        self
    }

    /// The note of lines that are no messages, for one connection.
    pub(crate) fn stray_lines(&self) -> StrayLines {
        StrayLines::new(self.stray.clone())
    }

    /// Starts the server, and a session with it.
    ///
    /// # Errors
    ///
    /// [`ClientError::Closed`] if the program cannot be started.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime with its drivers for input, output and time.
    pub fn start(&self, limits: &ClientLimits) -> Result<LineSession, ClientError> {
        let (stdout, stdin, ending) = self.open(limits)?;
        let ending = (ending, self.stray_lines());
        Ok(LineSession::with_ending(stdout, stdin, limits, ending))
    }

    /// Starts the server: its streams, and how they end.
    pub(crate) fn open(
        &self,
        limits: &ClientLimits,
    ) -> Result<(ChildStdout, ChildStdin, Ending), ClientError> {
        let mut child = self.command().spawn().map_err(|error| {
            let program = self.program.to_string_lossy();
            ClientError::closed(format!("`{program}` cannot be started: {error}"))
        })?;
        let stderr = match (&self.stderr, child.stderr.take()) {
            (Stderr::Lines(take), Some(stderr)) => {
                Some(tokio::spawn(pass_lines(stderr, Arc::clone(take))))
            }
            _ => None,
        };
        let (Some(stdout), Some(stdin)) = (child.stdout.take(), child.stdin.take()) else {
            return Err(ClientError::closed("the server has no standard streams"));
        };
        let ending = process::watch_over(child, stderr, limits.shutdown_timeout);
        Ok((stdout, stdin, ending))
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.args);
        self.environment.apply(&mut command);
        if let Some(directory) = &self.current_dir {
            command.current_dir(directory);
        }
        #[cfg(unix)]
        command.process_group(0);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(self.stderr.stdio())
            .kill_on_drop(true);
        command
    }
}
