//! Log level of a server of the legacy era.

use std::sync::atomic::{AtomicUsize, Ordering};

use treenail_runtime::client::ClientError;
use treenail_schema::LoggingLevel;
use treenail_schema::internal::shortened;

use super::Link;

impl Link {
    /// Requests log messages from a server of the legacy era, if a caller wants more of them than all before in its
    /// session.
    pub(super) async fn set_log_level(&self, level: Option<LoggingLevel>) {
        let Some(level) = level.filter(|_| !self.revision.is_modern()) else {
            return;
        };
        let session = self.client.session();
        if session.server_capabilities().logging.is_none() {
            return;
        }
        let Some(mut requested) = RequestedLevel::new(&self.tap.log_level, level) else {
            return;
        };
        let answer = session.logging_set_level(level).await;
        // After a timeout it is not repeated: every call would wait for a server that does not answer it. Other errors, such as
        // missing credentials, are no answer of the server.
        requested.is_lost = !matches!(
            answer,
            Ok(_) | Err(ClientError::Timeout(_) | ClientError::Refused(_))
        );
        if let Err(error) = answer {
            let error = shortened(&error.to_string());
            tracing::debug!(%error, "a server did not accept a log level");
        }
    }
}

/// Log level that is requested from a server. If the request is lost or dropped, the next call repeats it.
struct RequestedLevel<'a> {
    level: &'a AtomicUsize,
    requested: usize,
    before: usize,
    is_lost: bool,
}

impl<'a> RequestedLevel<'a> {
    /// Lowers `level`; `None` if it is not above `requested`.
    fn new(level: &'a AtomicUsize, requested: LoggingLevel) -> Option<Self> {
        let requested = requested as usize;
        let before = level.fetch_min(requested, Ordering::Relaxed);
        (requested < before).then_some(Self {
            level,
            requested,
            before,
            is_lost: true,
        })
    }
}

impl Drop for RequestedLevel<'_> {
    fn drop(&mut self) {
        if self.is_lost {
            // Another session may have started, or another call may have requested more.
            let (requested, before) = (self.requested, self.before);
            let _ = self.level.compare_exchange(
                requested,
                before,
                Ordering::Relaxed,
                Ordering::Relaxed,
            );
        }
    }
}
