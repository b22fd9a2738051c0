//! Process groups of servers.

use tokio::process::Child;
#[cfg(unix)]
use tokio::signal::unix::{SignalKind, signal};
#[cfg(unix)]
use tokio::time::{Duration, sleep};

/// Interval of checks for the end of processes that are no children of this one.
#[cfg(unix)]
const CHECK_INTERVAL: Duration = Duration::from_millis(20);

/// End of the work of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Exited,
    /// The kernel has stopped it, because it used the terminal.
    #[cfg_attr(not(unix), allow(dead_code, reason = "there are no such signals"))]
    AskedAtTerminal,
}

/// Process group of a server. Dropping it kills the remaining processes, also when the tokio runtime stops.
#[cfg(unix)]
pub(super) struct Group(Option<rustix::process::Pid>);

#[cfg(unix)]
impl Group {
    pub(super) fn of(child: &Child) -> Self {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        Self(id.and_then(rustix::process::Pid::from_raw))
    }

    /// Waits for the leader of the group to exit, without reaping it, or to be stopped at the terminal. `None` if that is not
    /// possible.
    pub(super) async fn wait_for_exit(&self) -> Option<End> {
        use rustix::process::{Signal, WaitId, WaitIdOptions, waitid};

        let at_terminal = [Signal::TTIN, Signal::TTOU].map(Signal::as_raw);
        let options = WaitIdOptions::EXITED | WaitIdOptions::STOPPED;
        let options = options | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        // Registered before the first check, so that no signal is missed.
        let mut child_signals = signal(SignalKind::child()).ok()?;
        while let Some(leader) = self.0 {
            let status = waitid(WaitId::Pid(leader), options).ok()?;
            let stopped_by = status.map(|status| status.stopping_signal());
            match stopped_by {
                Some(None) => return Some(End::Exited),
                Some(Some(signal)) if at_terminal.contains(&signal) => {
                    return Some(End::AskedAtTerminal);
                }
                // It runs, or a debugger or the user lets it go on.
                None | Some(Some(_)) => {}
            }
            child_signals.recv().await?;
        }
        None
    }

    /// Sends SIGTERM to the group. Returns false if that failed.
    pub(super) fn terminate(&self) -> bool {
        self.send_signal(rustix::process::Signal::TERM)
    }

    /// Waits for the end of the group, whose leader has been reaped, and drops its id.
    pub(super) async fn ended(&mut self) {
        let exists = |group| rustix::process::test_kill_process_group(group).is_ok();
        while self.0.is_some_and(exists) {
            sleep(CHECK_INTERVAL).await;
        }
        self.0 = None;
    }

    /// Kills the remaining processes, and drops the id of the group, which may now be reused.
    pub(super) fn kill(&mut self) {
        self.send_signal(rustix::process::Signal::KILL);
        self.0 = None;
    }

    fn send_signal(&self, signal: rustix::process::Signal) -> bool {
        self.0
            .is_some_and(|group| rustix::process::kill_process_group(group, signal).is_ok())
    }
}

#[cfg(unix)]
impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Without process groups, only the process of the server itself is stopped.
#[cfg(not(unix))]
pub(super) struct Group;

#[cfg(not(unix))]
impl Group {
    pub(super) fn of(_: &Child) -> Self {
        Self
    }

    pub(super) fn terminate(&self) -> bool {
        false
    }

    pub(super) async fn ended(&mut self) {}

    pub(super) fn kill(&mut self) {}
}
