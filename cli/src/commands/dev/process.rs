//! Processes of builds and of servers with a port of their own.

use std::io;
use std::pin::pin;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

#[cfg(unix)]
use rustix::process::{Pid, Signal as UnixSignal, kill_process_group};
use tokio::process::{Child, ChildStderr, ChildStdout, Command};
use tokio::time::{sleep, timeout};

/// Timeout of a group to exit after SIGTERM.
const STOP_TIMEOUT: Duration = Duration::from_secs(5);

/// Timeout of a group to exit after SIGKILL, which only a system call that hangs delays.
const KILL_TIMEOUT: Duration = Duration::from_secs(1);

/// Interval of checks for an exit of processes that are no children of this one.
const CHECK_INTERVAL: Duration = Duration::from_millis(20);

/// Maximum time to read the rest of the output after the exit of a process. Its child processes may hold the output open.
const REST_TIMEOUT: Duration = Duration::from_secs(1);

/// Process with its own child processes. Dropping it kills all of them.
#[derive(Debug)]
pub(super) struct ProcessGroup {
    child: Child,
    /// Id of the group, which exists for as long as one of its processes. `None` after that.
    #[cfg(unix)]
    id: Option<Pid>,
}

impl ProcessGroup {
    /// Starts a process without input, whose output is read.
    pub(super) fn spawn(command: &mut Command) -> io::Result<Self> {
        #[cfg(unix)]
        command.process_group(0);
        command.stdin(Stdio::null()).kill_on_drop(true);
        let child = command.spawn()?;
        Ok(Self {
            #[cfg(unix)]
            id: child
                .id()
                .and_then(|id| Pid::from_raw(i32::try_from(id).ok()?)),
            child,
        })
    }

    pub(super) fn take_output(&mut self) -> (Option<ChildStdout>, Option<ChildStderr>) {
        (self.child.stdout.take(), self.child.stderr.take())
    }

    /// Waits for the exit of the process.
    pub(super) async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.child.wait().await
    }

    /// Waits for the exit of the process while `reading` reads its output to the end.
    pub(super) async fn wait_with_output(
        &mut self,
        reading: impl Future<Output = ()>,
    ) -> io::Result<ExitStatus> {
        let mut reading = pin!(reading);
        let status = tokio::select! {
            () = &mut reading => return self.child.wait().await,
            status = self.child.wait() => status,
        };
        // A process in the background is not waited for.
        let _ = timeout(REST_TIMEOUT, reading).await;
        status
    }

    /// Leaves child processes alone after the exit of the process: a build may start a daemon.
    #[cfg(unix)]
    pub(super) fn release(mut self) {
        self.id = None;
    }

    #[cfg(not(unix))]
    pub(super) fn release(self) {}

    /// Stops all processes: with SIGTERM, and after a timeout with SIGKILL.
    pub(super) async fn stop(mut self) {
        if self.signal(Signal::Terminate) && timeout(STOP_TIMEOUT, self.ended()).await.is_ok() {
            return;
        }
        self.signal(Signal::Kill);
        // It has been killed already, or cannot be.
        let _ = self.child.kill().await;
        let _ = timeout(KILL_TIMEOUT, self.ended()).await;
    }

    /// Waits until no process runs.
    async fn ended(&mut self) {
        // The error would be that it has been waited for.
        let _ = self.child.wait().await;
        while self.is_running() {
            sleep(CHECK_INTERVAL).await;
        }
    }

    /// Returns whether a process of the group runs, after the exit of the first one.
    #[cfg(unix)]
    fn is_running(&mut self) -> bool {
        use rustix::process::test_kill_process_group;

        self.id = self.id.filter(|id| test_kill_process_group(*id).is_ok());
        self.id.is_some_and(has_running_process)
    }

    #[cfg(not(unix))]
    fn is_running(&mut self) -> bool {
        false
    }

    /// Sends a signal to the group. Returns false if that is not possible, for example after its end.
    #[cfg(unix)]
    fn signal(&self, signal: Signal) -> bool {
        let signal = match signal {
            Signal::Terminate => UnixSignal::TERM,
            Signal::Kill => UnixSignal::KILL,
        };
        self.id
            .is_some_and(|id| kill_process_group(id, signal).is_ok())
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

/// Returns whether a process of a group is no zombie. The first process of a container may never reap zombies.
#[cfg(target_os = "linux")]
fn has_running_process(group: Pid) -> bool {
    let Ok(entries) = std::fs::read_dir("/proc") else {
        return true;
    };
    let group = group.as_raw_nonzero().to_string();
    let stats = entries.flatten().filter_map(|entry| {
        let name = entry.file_name();
        let first = name.as_encoded_bytes().first()?;
        let stat = entry.path().join("stat");
        first
            .is_ascii_digit()
            .then(|| std::fs::read_to_string(stat).ok())?
    });
    let group = Some(group.as_str());
    stats.into_iter().any(|stat| {
        // The name in parentheses may contain anything; state, parent and group follow.
        let (_, fields) = stat.rsplit_once(')').unwrap_or_default();
        let mut fields = fields.split_ascii_whitespace();
        let is_zombie = fields.next().is_none_or(|state| matches!(state, "Z" | "X"));
        !is_zombie && fields.nth(1) == group
    })
}

#[cfg(all(unix, not(target_os = "linux")))]
fn has_running_process(_: Pid) -> bool {
    true
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use tokio::io::{AsyncBufReadExt as _, BufReader};

    use super::*;

    /// Starts a shell whose child process handles SIGTERM with `trap`.
    async fn wrapped(trap: &str) -> ProcessGroup {
        let inner = format!("trap \"{trap}\" TERM; echo ready; while :; do sleep 0.1; done");
        let mut command = Command::new("sh");
        command.args(["-c", &format!("sh -c '{inner}'; :")]);
        let mut group = ProcessGroup::spawn(command.stdout(Stdio::piped())).unwrap();
        let (stdout, _) = group.take_output();
        let mut lines = BufReader::new(stdout.unwrap()).lines();
        assert_eq!(lines.next_line().await.unwrap().unwrap(), "ready");
        group
    }

    #[tokio::test]
    async fn all_processes_have_ended_after_a_stop() {
        for trap in ["sleep 1; exit", ""] {
            let group = wrapped(trap).await;
            let id = group.id.unwrap();
            assert!(has_running_process(id));
            group.stop().await;
            assert!(!has_running_process(id), "trap {trap:?}");
        }
    }

    #[tokio::test]
    async fn all_processes_are_killed_on_drop_after_the_exit_of_the_first() {
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 1000 & exit 0"]);
        let mut group = ProcessGroup::spawn(&mut command).unwrap();
        let id = group.id.unwrap();
        assert!(group.wait().await.unwrap().success());
        assert!(has_running_process(id));
        drop(group);
        while has_running_process(id) {
            tokio::task::yield_now().await;
        }
    }
}
