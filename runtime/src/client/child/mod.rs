//! Servers that run as child processes.

mod environment;
mod group;
mod process;
mod stderr;

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;

use tokio::process::{ChildStdin, ChildStdout, Command};

use self::environment::Environment;
pub use self::stderr::Stderr;
use self::stderr::pass_lines;
use crate::client::line::{CloseReason, LineSession};
use crate::client::stray::{StrayLines, StrayListener};
use crate::client::{ClientError, ClientLimits};

/// Command that starts a server on standard input and output.
///
/// ```
/// use treenail::client::{ServerCommand, Stderr};
///
/// let command = ServerCommand::new("npx")
///     .args(["-y", "@modelcontextprotocol/server-everything"])
///     .env("LOG_LEVEL", "debug")
///     .stderr(Stderr::lines(|line| eprintln!("server: {line}")));
/// ```
///
/// The environment of this process may contain secrets, so the server inherits only a short list of variables, the same as
/// in the official SDKs: `HOME`, `LOGNAME`, `PATH`, `SHELL`, `TERM` and `USER`, or their counterparts on Windows.
/// [`env`](Self::env) adds variables, and [`inherit_env`](Self::inherit_env) passes on the whole environment.
///
/// The server runs in its own process group. Closing the session closes the input of the server. If the server does not exit
/// within [`ClientLimits::shutdown_timeout`], its group receives SIGTERM, and what is left of it after the same time SIGKILL (on
/// Windows the server is terminated at once). Dropping the session does the same in the background, while the tokio runtime is
/// running; when the runtime stops first, the group is killed. If the server exits without SIGTERM, other processes in its group are
/// killed.
///
/// If the server exits without being asked to, the session closes: pending requests fail with [`ClientError::Closed`], which
/// contains the exit status. The client does not restart the server; the caller can do so with the same command.
#[derive(Clone)]
pub struct ServerCommand {
    program: OsString,
    args: Vec<OsString>,
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

impl From<String> for ServerCommand {
    fn from(program: String) -> Self {
        Self::new(program)
    }
}

impl From<std::path::PathBuf> for ServerCommand {
    fn from(program: std::path::PathBuf) -> Self {
        Self::new(program)
    }
}

impl From<&Path> for ServerCommand {
    fn from(program: &Path) -> Self {
        Self::new(program)
    }
}

impl ServerCommand {
    /// Creates a command that starts `program` without arguments. The program is searched for in `PATH`. On Windows, a name
    /// without an extension is that of an `.exe` file, or else of a `.cmd` file, as in `npx`.
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
        self.environment
            .set_variable(name.as_ref(), Some(value.as_ref()));
        self
    }

    /// Removes a variable from the environment.
    #[must_use]
    pub fn env_remove(mut self, name: impl AsRef<OsStr>) -> Self {
        self.environment.set_variable(name.as_ref(), None);
        self
    }

    /// Passes on the whole environment of this process, including secrets. [`env`](Self::env) and
    /// [`env_remove`](Self::env_remove) still apply.
    #[must_use]
    pub fn inherit_env(mut self) -> Self {
        self.environment.inherit_all();
        self
    }

    /// Sets the working directory. Default: that of this process.
    #[must_use]
    pub fn current_dir(mut self, directory: impl AsRef<Path>) -> Self {
        self.current_dir = Some(directory.as_ref().to_owned());
        self
    }

    /// Sets the destination of standard error. Default: standard error of this process.
    #[must_use]
    pub fn stderr(mut self, stderr: Stderr) -> Self {
        self.stderr = stderr;
        self
    }

    /// Passes lines of standard output that are not messages to a function, which must not block. Long lines are truncated.
    /// Without a function, such lines are only logged as warnings.
    ///
    /// A server that prints to standard output by mistake is a common reason for a failed connection.
    ///
    /// ```
    /// use treenail::client::ServerCommand;
    ///
    /// let command = ServerCommand::new("my-server")
    ///     .on_stray_line(|line| eprintln!("the server printed {line:?}"));
    /// ```
    #[must_use]
    pub fn on_stray_line(mut self, on_line: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.stray = Some(Arc::new(on_line));
        self
    }

    /// Returns the record of stray lines for one connection.
    pub(crate) fn stray_lines(&self) -> StrayLines {
        StrayLines::new(self.stray.clone())
    }

    /// Starts the server and opens a session with it.
    ///
    /// # Errors
    ///
    /// [`ClientError::Unreachable`] if the program cannot be started.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime with its drivers for input, output and time.
    pub fn start(&self, limits: &ClientLimits) -> Result<LineSession, ClientError> {
        let (stdout, stdin, close_reason) = self.spawn(limits)?;
        let report = (close_reason, self.stray_lines());
        Ok(LineSession::with_close_reason(
            stdout, stdin, limits, report,
        ))
    }

    /// Starts the server and returns its streams.
    pub(crate) fn spawn(
        &self,
        limits: &ClientLimits,
    ) -> Result<(ChildStdout, ChildStdin, CloseReason), ClientError> {
        let spawned = self.command(&self.program).spawn();
        let spawned = spawned.or_else(|error| {
            let is_missing = cfg!(windows) && error.kind() == io::ErrorKind::NotFound;
            match script_name(&self.program).filter(|_| is_missing) {
                Some(script) => self.command(&script).spawn(),
                None => Err(error),
            }
        });
        let mut child = spawned.map_err(|error| self.start_error(&error))?;
        let stderr = match (&self.stderr, child.stderr.take()) {
            (Stderr::Lines(on_line), Some(stderr)) => {
                Some(tokio::spawn(pass_lines(stderr, Arc::clone(on_line))))
            }
            _ => None,
        };
        let (Some(stdout), Some(stdin)) = (child.stdout.take(), child.stdin.take()) else {
            return Err(ClientError::closed("the server has no standard streams"));
        };
        let close_reason = process::supervise(child, stderr, limits.shutdown_timeout);
        Ok((stdout, stdin, close_reason))
    }

    /// Returns the error of a server that cannot be started. The operating system does not report whether the program or its
    /// directory is missing.
    fn start_error(&self, error: &io::Error) -> ClientError {
        let program = self.program.to_string_lossy();
        let missing = self.current_dir.as_ref().filter(|it| !it.is_dir());
        let reason = match missing {
            Some(directory) => {
                let directory = directory.display();
                format!("its working directory `{directory}` is not a directory")
            }
            None if error.kind() == io::ErrorKind::NotFound && program.contains(' ') => {
                format!("{error}; its arguments must be separate from it")
            }
            None => error.to_string(),
        };
        ClientError::unreachable(format!("`{program}` cannot be started: {reason}"))
    }

    fn command(&self, program: &OsStr) -> Command {
        let mut command = Command::new(program);
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

/// Returns the name of the script of a program on Windows, where npm installs `npx` as `npx.cmd`. `None` if `program` is a path or
/// has an extension.
fn script_name(program: &OsStr) -> Option<OsString> {
    let is_name = !program.to_string_lossy().contains(['.', '/', '\\', ':']);
    is_name.then(|| {
        let mut script = program.to_owned();
        script.push(".cmd");
        script
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_without_an_extension_may_be_a_script() {
        let script = |program: &str| script_name(OsStr::new(program));
        assert_eq!(script("npx"), Some(OsString::from("npx.cmd")));
        for program in ["npx.exe", "./npx", "bin\\npx", "C:npx"] {
            assert_eq!(script(program), None, "{program}");
        }
    }
}
