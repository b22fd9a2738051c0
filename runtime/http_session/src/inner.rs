//! State that all requests of an HTTP session share.

use std::fmt;
use std::sync::Arc;

use tokio::runtime::Handle;
use tokio::sync::{Mutex, Semaphore};
use tokio::task::JoinHandle;
use treenail_runtime::client::{ClientError, ClientLimits};
use treenail_runtime::internal::timeout::timeout;

use crate::authorized::Subject;
use crate::incoming::Dispatcher;
use crate::message;
use crate::response::HttpResponse;
use crate::sender::Sender;
use crate::session_state::{SessionState, StateStore};

/// State that all requests of an HTTP session share.
pub(crate) struct Inner {
    pub(crate) limits: ClientLimits,
    pub(crate) sender: Sender,
    pub(crate) state: StateStore,
    pub(crate) dispatcher: Dispatcher,
    /// One permit for each request in flight.
    pub(crate) permits: Semaphore,
    /// One permit for each cancellation that is being sent.
    cancellations: Arc<Semaphore>,
    /// Task that deletes the session at the server, until it has ended.
    deletion: Mutex<Option<JoinHandle<()>>>,
}

impl fmt::Debug for Inner {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A query, the headers and a session id may contain secrets.
        formatter
            .debug_struct("HttpSession")
            .field("host", &self.sender.url.host().unwrap_or_default())
            .field("path", &self.sender.url.path())
            .finish_non_exhaustive()
    }
}

impl Inner {
    pub(crate) fn new(sender: Sender) -> Arc<Self> {
        let limits = sender.limits.clone();
        Arc::new_cyclic(|inner| Self {
            sender,
            state: StateStore::default(),
            dispatcher: Dispatcher::new(inner.clone(), limits.clone()),
            permits: semaphore(limits.requests_in_flight),
            cancellations: Arc::new(semaphore(limits.requests_in_flight)),
            deletion: Mutex::default(),
            limits,
        })
    }

    /// Posts a legacy message that has no answer.
    pub(crate) async fn deliver(
        &self,
        state: &SessionState,
        subject: Subject<'_>,
        body: &[u8],
    ) -> Result<(), ClientError> {
        let response = self.sender.post_legacy(state, subject, body).await?;
        let accepted = HttpResponse::expect_success(response).await;
        accepted.map_err(|error| self.state.error_for(error, state))
    }

    /// Sends the cancellation of a legacy request in the background. Drops it if too many others are being sent.
    pub(crate) fn send_cancellation(self: &Arc<Self>, runtime: &Handle, id: i64) {
        let Ok(permit) = Arc::clone(&self.cancellations).try_acquire_owned() else {
            tracing::debug!("dropped a cancellation: the server does not accept earlier ones");
            return;
        };
        let inner = Arc::clone(self);
        let state = self.state.current();
        runtime.spawn(async move {
            let body = message::cancelled(id);
            let subject = Subject {
                method: Some("notifications/cancelled"),
                ..state.subject()
            };
            let sent = inner.deliver(&state, subject, &body);
            let sent = timeout(inner.limits.request_timeout, sent);
            if !matches!(inner.state.while_open(sent).await, Some(Ok(Ok(())))) {
                tracing::debug!("a cancellation could not be sent to the server");
            }
            drop(permit);
        });
    }

    /// Closes the session on both sides. Returns after the server has answered, or not in time.
    ///
    /// # Cancellation
    ///
    /// The session is deleted at the server nevertheless. Another call waits for that.
    pub(crate) async fn end(self: &Arc<Self>) {
        let mut deletion = self.deletion.lock().await;
        if let Some(task) = self.end_in_background(Handle::current) {
            *deletion = Some(task);
        }
        if let Some(task) = &mut *deletion {
            // An error means that its runtime has stopped.
            let _ = task.await;
        }
        *deletion = None;
    }

    /// Closes the session on this side. The first call returns the task that deletes it at the server, if it has an id there.
    pub(crate) fn end_in_background(
        self: &Arc<Self>,
        runtime: impl FnOnce() -> Handle,
    ) -> Option<JoinHandle<()>> {
        let state = self.close().filter(|state| state.id.is_some())?;
        let inner = Arc::clone(self);
        Some(runtime().spawn(async move { inner.sender.delete(&state).await }))
    }

    /// Closes the session on this side. The first call returns the state that was current.
    pub(crate) fn close(&self) -> Option<SessionState> {
        let state = self.state.close()?;
        self.dispatcher.close(&closed());
        Some(state)
    }
}

/// Creates a semaphore with `permits` permits, but at least one.
pub(crate) fn semaphore(permits: usize) -> Semaphore {
    Semaphore::new(permits.clamp(1, Semaphore::MAX_PERMITS))
}

/// The error of a request on a closed session.
pub(crate) fn closed() -> ClientError {
    ClientError::closed("the session was closed")
}
