//! Processes of builds and of servers with a port of their own.

use std::io;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::process::{Child, ChildStderr, ChildStdout, Command};
use tokio::time::timeout;

/// Timeout of a process to exit after SIGTERM.
const STOP_TIMEOUT: Duration = Duration::from_secs(5);

/// Process with its own child processes. Dropping it kills all of them.
#[derive(Debug)]
pub(super) struct ProcessGroup {
    child: Child,
}

impl ProcessGroup {
    /// Starts a process without input, whose output is read.
    pub(super) fn spawn(command: &mut Command) -> io::Result<Self> {
        #[cfg(unix)]
        command.process_group(0);
        command.stdin(Stdio::null()).kill_on_drop(true);
        Ok(Self {
            child: command.spawn()?,
        })
    }

    pub(super) fn take_output(&mut self) -> (Option<ChildStdout>, Option<ChildStderr>) {
        (self.child.stdout.take(), self.child.stderr.take())
    }

    /// Waits for the exit of the process.
    pub(super) async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.child.wait().await
    }

    /// Stops the process: with SIGTERM, and after a timeout with SIGKILL.
    pub(super) async fn stop(mut self) {
        if self.signal(Signal::Terminate) && timeout(STOP_TIMEOUT, self.child.wait()).await.is_ok()
        {
            return;
        }
        self.signal(Signal::Kill);
        // It has been killed already, or cannot be.
        let _ = self.child.kill().await;
    }

    /// Sends a signal to the group. Returns false if that is not possible, for example after the process has been reaped.
    #[cfg(unix)]
    fn signal(&self, signal: Signal) -> bool {
        use rustix::process::{Pid, Signal as UnixSignal, kill_process_group};

        let signal = match signal {
            Signal::Terminate => UnixSignal::TERM,
            Signal::Kill => UnixSignal::KILL,
        };
        let id = self.child.id().and_then(|id| i32::try_from(id).ok());
        let group = id.and_then(Pid::from_raw);
        group.is_some_and(|group| kill_process_group(group, signal).is_ok())
    }

    #[cfg(not(unix))]
    fn signal(&self, _: Signal) -> bool {
        false
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.signal(Signal::Kill);
    }
}

#[derive(Clone, Copy, Debug)]
enum Signal {
    Terminate,
    Kill,
}
