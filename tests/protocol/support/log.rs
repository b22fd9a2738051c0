//! Log of the tests on one thread, as an operator reads it.

use std::cell::RefCell;
use std::io::{self, Write};
use std::sync::LazyLock;

use tracing::subscriber::set_global_default;

thread_local! {
    static LOG: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// The subscriber is that of the process, because a subscriber of one thread misses events while other threads register theirs.
static SUBSCRIBER: LazyLock<()> = LazyLock::new(|| {
    let subscriber = tracing_subscriber::fmt()
        .with_ansi(false)
        .without_time()
        .with_writer(|| Log)
        .finish();
    set_global_default(subscriber).unwrap();
});

/// Log of the current thread.
pub(crate) struct Log;

impl Log {
    /// Starts the log, without earlier lines.
    pub(crate) fn start() {
        LazyLock::force(&SUBSCRIBER);
        LOG.take();
    }

    /// Takes the lines so far.
    pub(crate) fn take() -> Vec<String> {
        let text = String::from_utf8(LOG.take()).unwrap();
        text.lines().map(ToOwned::to_owned).collect()
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        LOG.with_borrow_mut(|log| log.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
