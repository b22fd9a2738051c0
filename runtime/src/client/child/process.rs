//! A server's process, from its start to its end.

use std::future::{Future, poll_fn};
use std::io;
use std::pin::pin;
use std::process::ExitStatus;
use std::task::Poll;
use std::time::Duration;

use tokio::process::Child;
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
    child: Child,
    group: Group,
}

impl Process {
    /// Waits for the end, and makes sure of it once the session has ended: then the input of the server is closed.
    async fn run(mut self, told: impl Future, within: Duration) -> String {
        let by_itself = {
            let (mut wait, mut told) = (pin!(self.child.wait()), pin!(told));
            poll_fn(|context| match wait.as_mut().poll(context) {
                Poll::Ready(ended) => Poll::Ready(Some(ended)),
                Poll::Pending => told.as_mut().poll(context).map(|_| None),
            })
            .await
        };
        let told = match by_itself {
            Some(ended) => exited(ended),
            None => self.end(within).await,
        };
        self.group.kill();
        told
    }

    async fn end(&mut self, within: Duration) -> String {
        if let Ok(ended) = timeout(within, self.child.wait()).await {
            return exited(ended);
        }
        if self.group.terminate() && timeout(within, self.child.wait()).await.is_ok() {
            return "the server did not end by itself and was told to terminate".to_owned();
        }
        self.group.kill();
        if let Err(error) = self.child.kill().await {
            tracing::warn!(%error, "a server cannot be killed");
        }
        "the server did not end by itself and was killed".to_owned()
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

    /// Asks the processes to end; whether they could be asked.
    fn terminate(&self) -> bool {
        self.signal(rustix::process::Signal::TERM)
    }

    /// Kills what is left. A group keeps its number while it has a member; if the server was the last one, its number is
    /// free from now on, so it is used this once, at once, and then forgotten.
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
