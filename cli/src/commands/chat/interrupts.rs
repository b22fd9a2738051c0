//! Ctrl-C events, none of which is lost between two waits.

use crate::exit::Failure;

/// Listener for Ctrl-C.
#[derive(Debug)]
pub(super) struct Interrupts {
    #[cfg(unix)]
    signal: tokio::signal::unix::Signal,
    #[cfg(windows)]
    signal: tokio::signal::windows::CtrlC,
}

impl Interrupts {
    pub(super) fn new() -> Result<Self, Failure> {
        let failed = Failure::io("could not install the handler for Ctrl-C");
        #[cfg(unix)]
        let signal = {
            use tokio::signal::unix::{SignalKind, signal};
            signal(SignalKind::interrupt())
        };
        #[cfg(windows)]
        let signal = tokio::signal::windows::ctrl_c();
        Ok(Self {
            signal: signal.map_err(failed)?,
        })
    }

    /// Waits for the next Ctrl-C.
    pub(super) async fn next(&mut self) {
        if self.signal.recv().await.is_none() {
            std::future::pending::<()>().await;
        }
    }
}
