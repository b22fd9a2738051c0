//! Ctrl-C, of which none is missed between two waits.

use crate::exit::Failure;

/// The times that Ctrl-C was pressed.
#[derive(Debug)]
pub(super) struct Interrupts {
    #[cfg(unix)]
    signal: tokio::signal::unix::Signal,
    #[cfg(windows)]
    signal: tokio::signal::windows::CtrlC,
}

impl Interrupts {
    pub(super) fn new() -> Result<Self, Failure> {
        let failed = Failure::local("Ctrl-C cannot be heard");
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

    /// Waits for the next one.
    pub(super) async fn next(&mut self) {
        if self.signal.recv().await.is_none() {
            std::future::pending::<()>().await;
        }
    }
}
