//! Supervision of the process of a server.

use std::future::{Future, poll_fn};
use std::io;
use std::pin::pin;
use std::process::ExitStatus;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use tokio::process::Child;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::group::{End, Group};
use crate::client::TransportKind;
use crate::client::line::CloseReason;

/// Reason of the end of a server that reads from the terminal, such as `ssh` for a passphrase. Its group is in the background there.
const ASKED_AT_TERMINAL: &str =
    "the server asked at the terminal, which it cannot use; it has to start without questions";

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
        transport: TransportKind::Stdio,
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
        let end = {
            let (mut exit, mut stop) = (pin!(self.wait_for_exit()), pin!(stop_requested));
            poll_fn(|context| match exit.as_mut().poll(context) {
                Poll::Ready(end) => Poll::Ready(Some(end)),
                Poll::Pending => stop.as_mut().poll(context).map(|_| None),
            })
            .await
        };
        match end {
            Some(End::Exited) => self.reap().await,
            Some(End::AskedAtTerminal) => {
                self.reap().await;
                ASKED_AT_TERMINAL.to_owned()
            }
            None => self.stop(shutdown_timeout).await,
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

    /// Waits for the process of the server to exit, or to be stopped at the terminal, where possible without reaping it: once the
    /// leader of a group has been reaped, the id of the group may be reused.
    async fn wait_for_exit(&mut self) -> End {
        #[cfg(unix)]
        if let Some(end) = self.group.wait_for_exit().await {
            return end;
        }
        // The child stores its status, so it can be waited for again.
        if let Err(error) = self.child.wait().await {
            tracing::debug!(%error, "could not wait for a server");
        }
        End::Exited
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
            assert!(!process.group.terminate(), "the group id is dropped");
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
        // Without an init process that reaps orphans, the server remains in its group, and the stop takes its whole limit.
        process.stop(Duration::from_secs(1)).await;
        let read = stdout.read_to_string(&mut text).await;
        read.expect("it is text");
        assert_eq!(text, "ready\nsaved\n");
    }
}
