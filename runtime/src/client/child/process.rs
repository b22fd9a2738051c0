//! Supervision of the process of a server.

use std::future::{Future, poll_fn};
use std::io;
use std::pin::pin;
use std::process::ExitStatus;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use tokio::process::Child;
#[cfg(unix)]
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio::task::JoinHandle;
#[cfg(unix)]
use tokio::time::sleep;
use tokio::time::timeout;

use crate::client::line::CloseReason;

/// Interval of checks for the end of processes that are no children of this one.
#[cfg(unix)]
const CHECK_INTERVAL: Duration = Duration::from_millis(20);

/// Supervises a server in a separate task, until the server exits or the session closes.
pub(super) fn supervise(
    child: Child,
    stderr: Option<JoinHandle<()>>,
    shutdown_timeout: Duration,
) -> CloseReason {
    let process = Process {
        group: Group::of(&child),
        child,
    };
    let (stop, mut stopping) = watch::channel(false);
    let stop = Arc::new(stop);
    // Also ready when all senders are gone.
    let stop_requested = async move { drop(stopping.wait_for(|stop| *stop).await) };
    let (reason_sender, mut reason) = watch::channel(None);
    tokio::spawn(async move {
        let exit_reason = process.run(stop_requested, shutdown_timeout).await;
        if let Some(mut stderr) = stderr {
            // The last lines of standard error may still be in the pipe.
            if timeout(shutdown_timeout, &mut stderr).await.is_err() {
                stderr.abort();
            }
        }
        reason_sender.send_replace(Some(exit_reason));
    });
    let (mut exited, early_stop) = (reason.clone(), Arc::clone(&stop));
    CloseReason {
        exited: Box::pin(async move { drop(exited.wait_for(Option::is_some).await) }),
        stop: Box::new(move || {
            early_stop.send_replace(true);
        }),
        reason: Box::pin(async move {
            stop.send_replace(true);
            let reason = reason.wait_for(Option::is_some).await;
            let reason = reason.ok().and_then(|reason| reason.clone());
            reason.unwrap_or_else(|| "the server is no longer supervised".to_owned())
        }),
    }
}

/// A server and its own child processes.
struct Process {
    /// Dropped before the child: until the child has been reaped, the id of its group cannot be reused.
    group: Group,
    child: Child,
}

impl Process {
    /// Waits for the server to exit, and stops it once `stop_requested` is ready. Returns the reason of the exit.
    async fn run(mut self, stop_requested: impl Future, shutdown_timeout: Duration) -> String {
        let exited = {
            let (mut exit, mut stop) = (pin!(self.wait_for_exit()), pin!(stop_requested));
            poll_fn(|context| match exit.as_mut().poll(context) {
                Poll::Ready(()) => Poll::Ready(true),
                Poll::Pending => stop.as_mut().poll(context).map(|_| false),
            })
            .await
        };
        if exited {
            self.reap().await
        } else {
            self.stop(shutdown_timeout).await
        }
    }

    /// Stops the server, whose input is being closed.
    async fn stop(&mut self, limit: Duration) -> String {
        if timeout(limit, self.wait_for_exit()).await.is_ok() {
            return self.reap().await;
        }
        if self.group.terminate() && timeout(limit, self.wait_for_group()).await.is_ok() {
            return "the server did not exit in time and was terminated".to_owned();
        }
        self.group.kill();
        // A server that has been reaped has no id.
        if self.child.id().is_some() {
            if let Err(error) = self.child.kill().await {
                tracing::warn!(%error, "a server could not be killed");
            }
        }
        "the server did not exit in time and was killed".to_owned()
    }

    /// Waits for the process of the server to exit, where possible without reaping it: once the leader of a group has been
    /// reaped, the id of the group may be reused.
    async fn wait_for_exit(&mut self) {
        #[cfg(unix)]
        if self.group.wait_for_exit().await {
            return;
        }
        // The child stores its status, so it can be waited for again.
        if let Err(error) = self.child.wait().await {
            tracing::debug!(%error, "could not wait for a server");
        }
    }

    /// Waits for the exit of all processes of the group. A launcher exits at once when it is terminated, while the server that it has
    /// started still cleans up.
    async fn wait_for_group(&mut self) {
        // Until the server has been reaped, its group does not end.
        if let Err(error) = self.child.wait().await {
            tracing::debug!(%error, "could not wait for a server");
        }
        self.group.ended().await;
    }

    /// Kills the rest of the group of a server that has exited, and reaps the server.
    async fn reap(&mut self) -> String {
        self.group.kill();
        describe_exit(self.child.wait().await)
    }
}

fn describe_exit(status: io::Result<ExitStatus>) -> String {
    match status.map(|status| (status.code(), status)) {
        Ok((Some(code), _)) => format!("the server has exited with status {code}"),
        Ok((None, status)) => format!("the server has ended: {status}"),
        Err(error) => format!("could not wait for the server: {error}"),
    }
}

/// Process group of a server. Dropping it kills the remaining processes, also when the tokio runtime stops.
#[cfg(unix)]
struct Group(Option<rustix::process::Pid>);

#[cfg(unix)]
impl Group {
    fn of(child: &Child) -> Self {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        Self(id.and_then(rustix::process::Pid::from_raw))
    }

    /// Waits for the leader of the group to exit, without reaping it. Returns false if that is not possible.
    async fn wait_for_exit(&self) -> bool {
        use rustix::process::{WaitId, WaitIdOptions, waitid};

        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        // Registered before the first check, so that no signal is missed.
        let Ok(mut child_signals) = signal(SignalKind::child()) else {
            return false;
        };
        while let Some(leader) = self.0 {
            match waitid(WaitId::Pid(leader), options) {
                Ok(None) => {}
                Ok(Some(_)) => return true,
                Err(_) => return false,
            }
            if child_signals.recv().await.is_none() {
                return false;
            }
        }
        false
    }

    /// Sends SIGTERM to the group. Returns false if that failed.
    fn terminate(&self) -> bool {
        self.send_signal(rustix::process::Signal::TERM)
    }

    /// Waits for the end of the group, whose leader has been reaped, and drops its id.
    async fn ended(&mut self) {
        let exists = |group| rustix::process::test_kill_process_group(group).is_ok();
        while self.0.is_some_and(exists) {
            sleep(CHECK_INTERVAL).await;
        }
        self.0 = None;
    }

    /// Kills the remaining processes, and drops the id of the group, which may now be reused.
    fn kill(&mut self) {
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
struct Group;

#[cfg(not(unix))]
impl Group {
    fn of(_: &Child) -> Self {
        Self
    }

    fn terminate(&self) -> bool {
        false
    }

    async fn ended(&mut self) {}

    fn kill(&mut self) {}
}

#[cfg(all(test, unix))]
mod tests {
    use std::process::Stdio;

    use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
    use tokio::process::Command;

    use super::*;

    fn start(script: &str) -> Process {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdout(Stdio::piped());
        let child = command.process_group(0).spawn();
        let child = child.expect("there is a shell");
        Process {
            group: Group::of(&child),
            child,
        }
    }

    #[tokio::test]
    async fn the_group_id_is_not_reused_before_the_server_is_reaped() {
        for script in ["exit 3", "sleep 1000 & exit 3"] {
            let mut process = start(script);
            process.wait_for_exit().await;
            // Waiting again returns at once.
            process.wait_for_exit().await;
            assert!(
                process.group.terminate(),
                "the group id is still in use: {script}"
            );
            let reason = process.reap().await;
            assert_eq!(reason, "the server has exited with status 3");
            assert!(process.group.0.is_none(), "the group id is dropped");
        }
    }

    #[tokio::test]
    async fn a_server_behind_a_launcher_may_clean_up() {
        let server =
            "trap 'sleep 0.3; echo saved; exit' TERM; echo ready; while :; do sleep 0.1; done";
        let mut process = start(&format!("sh -c \"{server}\"; :"));
        let mut stdout = BufReader::new(process.child.stdout.take().expect("it is piped"));
        let mut text = String::new();
        stdout.read_line(&mut text).await.expect("it is ready");
        assert!(process.group.terminate());
        tokio::select! {
            // A process that nobody reaps stays in its group.
            read = stdout.read_to_string(&mut text) => drop(read.expect("it is text")),
            () = process.wait_for_group() => drop(stdout.read_to_string(&mut text).await),
        }
        assert_eq!(text, "ready\nsaved\n");
    }
}
