//! Signals that interrupt or terminate the program.

use std::future::{Future, pending};
use std::{io, thread};

use tokio::sync::oneshot;

use crate::exit::{Exit, Failure};

/// Waits for a future, unless a signal interrupts or terminates the program.
pub(crate) async fn until_interrupted<T>(
    future: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    tokio::select! {
        // Signals first, so that they are observed before the future starts.
        biased;
        () = interrupted() => Err(Failure::new(Exit::Interrupted, "cancelled")),
        () = terminated() => Err(Failure::new(Exit::Terminated, "terminated")),
        result = future => result,
    }
}

/// Runs work that may block on a thread, unless a signal interrupts or terminates the program: the one thread of the runtime has to
/// observe signals.
pub(crate) async fn on_thread(
    work: impl FnOnce() -> Result<(), Failure> + Send + 'static,
) -> Result<(), Failure> {
    until_interrupted(async {
        let (done, outcome) = oneshot::channel();
        // The receiver is gone after a signal.
        thread::spawn(move || drop(done.send(work())));
        let ended = |error| Failure::io("a thread has ended")(io::Error::other(error));
        outcome.await.map_err(ended)?
    })
    .await
}

/// Completes when Ctrl-C is pressed; never if no handler can be installed.
pub(crate) async fn interrupted() {
    if tokio::signal::ctrl_c().await.is_err() {
        pending::<()>().await;
    }
}

/// Completes on SIGTERM, and on SIGHUP when the terminal is closed.
#[cfg(unix)]
pub(crate) async fn terminated() {
    use tokio::signal::unix::{SignalKind, signal};

    let wait = async |kind| match signal(kind) {
        Ok(mut signal) => drop(signal.recv().await),
        Err(_) => pending().await,
    };
    tokio::select! {
        () = wait(SignalKind::terminate()) => {}
        () = wait(SignalKind::hangup()) => {}
    }
}

/// Never completes, because this platform has no SIGTERM.
#[cfg(not(unix))]
pub(crate) async fn terminated() {
    pending().await
}
