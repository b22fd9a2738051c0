//! Request of any method with its options, before it is sent.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use treenail_schema::Revision;

use crate::client::ClientError;
use crate::client::protocol::inner::{Inner, RequestTemplate};
use crate::client::protocol::input_required::CompleteResult;
use crate::client::protocol::options::RequestOptions;
use crate::client::timeout::{ExpiryScope, timeout};

/// Request of any method with its options, before it is sent.
///
/// Futures borrow it. A future that owned it would pass it to others, and reserve room for it in each of them.
pub(in crate::client) struct PreparedRequest {
    pub(super) inner: Arc<Inner>,
    /// The error that the request fails with, if it cannot be sent.
    pub(super) template: Result<RequestTemplate, ClientError>,
    pub(super) options: RequestOptions,
}

impl PreparedRequest {
    /// Changes the request, unless it has failed already.
    pub(super) fn edit_template(
        &mut self,
        edit: impl FnOnce(&mut RequestTemplate) -> Result<(), ClientError>,
    ) {
        let edited = self.template.as_mut().map_or(Ok(()), edit);
        if let Err(error) = edited {
            self.template = Err(error);
        }
    }

    /// Returns the revision of the server.
    pub(in crate::client) fn revision(&self) -> Revision {
        self.inner.peer().revision
    }

    /// Returns the arguments as JSON text.
    pub(in crate::client) fn arguments(&self) -> Option<&str> {
        self.template.as_ref().ok()?.params.member("arguments")
    }

    /// Returns the timeout of the request, and of each step before it.
    pub(in crate::client) fn step_timeout(&self) -> Duration {
        self.options.step_timeout(&self.inner)
    }

    /// Returns the maximum duration of the request.
    #[cfg(feature = "validation")]
    pub(in crate::client) fn time_limit(&self) -> Duration {
        let timeout = self.step_timeout();
        let max_duration = self.options.max_duration;
        max_duration.map_or(timeout, |max_duration| max_duration.max(timeout))
    }

    /// Sets arguments to repeat in headers, on transports with headers.
    pub(in crate::client) fn set_headers(&mut self, headers: Vec<(String, String)>) {
        if let Ok(template) = &mut self.template {
            template.headers = headers;
        }
    }

    /// Returns true if a task is returned to the caller, instead of its result.
    pub(in crate::client) fn keeps_task(&self) -> bool {
        self.options.keeps_task
    }

    /// Asks for a task, in revision 2025-11-25.
    pub(in crate::client) fn ask_for_task(&mut self) {
        if let Ok(template) = &mut self.template {
            template.params.ask_for_task();
            template.asks_for_task = true;
        }
    }

    /// Sends the request, and returns the text of its result.
    pub(in crate::client) async fn send(&self) -> Result<CompleteResult, ClientError> {
        let template = self.template.as_ref().map_err(ClientError::clone)?;
        if self.options.requests_progress() || self.inner.accepts_task(template) {
            // Boxed: most requests have no such options.
            return Box::pin(self.options.run(&self.inner, template)).await;
        }
        let mut scope = ExpiryScope::default();
        // Pinned here: the future of each request is not moved.
        let complete = pin!(self.inner.complete(template));
        let completed = timeout(self.step_timeout(), complete).await;
        if completed.is_err() {
            scope.expire();
        }
        completed?
    }
}
