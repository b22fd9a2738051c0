//! A server's process, from its start to its end.

use std::future::{Future, poll_fn};
use std::io;
use std::pin::pin;
use std::process::ExitStatus;
use std::task::Poll;
use std::time::Duration;

use tokio::process::Child;
#[cfg(unix)]
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::client::line::Ending;

/// Watches over a server in a task of its own: the server ends by itself, or when the session does.
pub(super) fn watch_over(child: Child, stderr: Option<JoinHandle<()>>, within: Duration) -> Ending {
    let process = Process {
        group: Group::of(&child),
        child,
    };
    let (told, told_to_end) = oneshot::channel();
    let (ended, mut reason) = watch::channel(None);
    tokio::spawn(async move {
        let told = process.run(told_to_end, within).await;
        if let Some(mut stderr) = stderr {
            // What the server has said last is still on its way.
            if timeout(within, &mut stderr).await.is_err() {
                stderr.abort();
            }
        }
        ended.send_replace(Some(told));
    });
    let mut exited = reason.clone();
    Ending {
        exited: Box::pin(async move { drop(exited.wait_for(Option::is_some).await) }),
        reason: Box::pin(async move {
            // It has ended already if it cannot be told.
            let _has_ended = told.send(()).is_err();
            let reason = reason.wait_for(Option::is_some).await;
            let reason = reason.ok().and_then(|reason| reason.clone());
            reason.unwrap_or_else(|| "the server is not watched any more".to_owned())
        }),
    }
}

/// A server and what it has started itself.
struct Process {
    /// Dropped before the child: until that has been waited for, nothing else can have the number of its group.
    group: Group,
    child: Child,
}

impl Process {
    /// Waits for the end, and makes sure of it once the session has ended: then the input of the server is closed.
    async fn run(mut self, told: impl Future, within: Duration) -> String {
        let by_itself = {
            let (mut exit, mut told) = (pin!(self.exit()), pin!(told));
            poll_fn(|context| match exit.as_mut().poll(context) {
                Poll::Ready(()) => Poll::Ready(true),
                Poll::Pending => told.as_mut().poll(context).map(|_| false),
            })
            .await
        };
        if by_itself {
            self.reap().await
        } else {
            self.end(within).await
        }
    }

    async fn end(&mut self, within: Duration) -> String {
        if timeout(within, self.exit()).await.is_ok() {
            return self.reap().await;
        }
        if self.group.terminate() && timeout(within, self.exit()).await.is_ok() {
            self.reap().await;
            return "the server did not end by itself and was told to terminate".to_owned();
        }
        self.group.kill();
        if let Err(error) = self.child.kill().await {
            tracing::warn!(%error, "a server cannot be killed");
        }
        "the server did not end by itself and was killed".to_owned()
    }

    /// Waits for the server's own process to exit, where possible without reaping it: a group whose leader has been reaped
    /// may have a number that belongs to somebody else.
    async fn exit(&mut self) {
        #[cfg(unix)]
        if self.group.exit().await {
            return;
        }
        // The status is remembered for those who wait again.
        if let Err(error) = self.child.wait().await {
            tracing::debug!(%error, "a server cannot be waited for");
        }
    }

    /// Ends what a server that has exited has left behind, and then the server itself.
    async fn reap(&mut self) -> String {
        self.group.kill();
        exited(self.child.wait().await)
    }
}

fn exited(ended: io::Result<ExitStatus>) -> String {
    match ended.map(|status| (status.code(), status)) {
        Ok((Some(code), _)) => format!("the server has exited with status {code}"),
        Ok((None, status)) => format!("the server has ended: {status}"),
        Err(error) => format!("the server cannot be waited for: {error}"),
    }
}

/// The process group of a server: its own process, and what it has started. What is left of it when this is dropped, be
/// it that the runtime ends, is killed.
#[cfg(unix)]
struct Group(Option<rustix::process::Pid>);

#[cfg(unix)]
impl Group {
    fn of(child: &Child) -> Self {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        Self(id.and_then(rustix::process::Pid::from_raw))
    }

    /// Waits for the leader of the group to exit, and leaves it to be reaped. Returns false if that cannot be waited for.
    async fn exit(&self) -> bool {
        use rustix::process::{WaitId, WaitIdOptions, waitid};

        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        // The signal is listened for before the first look, so that none is missed.
        let Ok(mut exits) = signal(SignalKind::child()) else {
            return false;
        };
        while let Some(leader) = self.0 {
            match waitid(WaitId::Pid(leader), options) {
                Ok(None) => {}
                Ok(Some(_)) => return true,
                Err(_) => return false,
            }
            if exits.recv().await.is_none() {
                return false;
            }
        }
        false
    }

    /// Asks the processes to end; whether they could be asked.
    fn terminate(&self) -> bool {
        self.signal(rustix::process::Signal::TERM)
    }

    /// Kills what is left, and forgets the group: its number may be free from now on.
    fn kill(&mut self) {
        self.signal(rustix::process::Signal::KILL);
        self.0 = None;
    }

    fn signal(&self, signal: rustix::process::Signal) -> bool {
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

/// Only the server's own process is known.
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

    fn kill(&mut self) {}
}

#[cfg(all(test, unix))]
mod tests {
    use tokio::process::Command;

    use super::*;

    fn start(script: &str) -> Process {
        let mut command = Command::new("sh");
        let child = command.args(["-c", script]).process_group(0).spawn();
        let child = child.expect("there is a shell");
        Process {
            group: Group::of(&child),
            child,
        }
    }

    #[tokio::test]
    async fn the_group_is_still_that_of_the_server_when_its_exit_is_noticed() {
        for script in ["exit 3", "sleep 1000 & exit 3"] {
            let mut process = start(script);
            process.exit().await;
            // It waits again without a loss.
            process.exit().await;
            assert!(process.group.terminate(), "the number is in use: {script}");
            let told = process.reap().await;
            assert_eq!(told, "the server has exited with status 3");
            assert!(process.group.0.is_none(), "it is not used again");
        }
    }
}
