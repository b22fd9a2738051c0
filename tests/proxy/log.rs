//! Log of a test, as an operator reads it.

use std::io;
use std::sync::{Arc, LazyLock, Mutex};

use tracing::subscriber::{DefaultGuard, Subscriber};
use tracing::{Dispatch, Level};

/// With one log only, an event that another thread reaches first would be disabled for all threads.
static OTHER: LazyLock<Dispatch> =
    LazyLock::new(|| Dispatch::new(Log::default().subscriber(Level::WARN)));

/// Events of this thread.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    /// Records the events up to a level, such as `WARN`, until the guard is dropped.
    pub(crate) fn record(level: Level) -> (Self, DefaultGuard) {
        LazyLock::force(&OTHER);
        let log = Self::default();
        let guard = tracing::subscriber::set_default(log.subscriber(level));
        (log, guard)
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        let text = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
        text.lines().map(ToOwned::to_owned).collect()
    }

    fn subscriber(&self, level: Level) -> impl Subscriber + Send + Sync + 'static {
        let log = self.clone();
        let subscriber = tracing_subscriber::fmt().with_max_level(level);
        let subscriber = subscriber.with_ansi(false).without_time();
        subscriber.with_writer(move || log.clone()).finish()
    }
}

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
