//! Connection between a `jsoncall` handler and its server.

mod output;

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ::jsoncall::SessionContext;
use tokio::io::DuplexStream;
use tokio::io::{AsyncReadExt, AsyncWriteExt, ReadHalf, WriteHalf, duplex, split};
use tokio::sync::{Notify, oneshot, watch};
use tokio::task::AbortHandle;
use treenail_runtime::Limits;
use treenail_runtime::RpcError;
use treenail_runtime::Server;
use treenail_runtime::internal::{self, IdKey, LineBuffer};
use treenail_schema::RequestId;

use crate::backlog::Backlog;
use crate::convert::{push_notification, push_request};
use crate::guard::{PIPE, internal_limits};

/// Pending response to a request of the peer. The sender is dropped if the request is cancelled.
pub(super) type PendingResponse = oneshot::Receiver<Result<String, RpcError>>;

/// State shared between a handler and the task of its server.
#[derive(Debug)]
pub(super) struct Bridge {
    state: Mutex<BridgeState>,
    wake: Notify,
    /// Input that the server has not read yet, for back-pressure by the guard.
    pub(super) unread_input: Arc<Backlog>,
    /// Output that the peer has not read yet, if a guard counts it.
    pub(super) backlog: Option<Arc<Backlog>>,
    finished: watch::Sender<bool>,
    internal_limits: Limits,
}

#[derive(Debug, Default)]
struct BridgeState {
    /// Input lines for the server.
    lines: Vec<u8>,
    count: usize,
    started: bool,
    ended: bool,
    /// Pending requests of the peer. A peer may reuse an id, so each has a queue.
    pending: HashMap<IdKey, VecDeque<Pending>>,
    /// Pending requests of the server to the peer.
    server_requests: HashMap<RequestId, AbortHandle>,
}

/// Pending request of the peer.
#[derive(Debug)]
struct Pending {
    response: oneshot::Sender<Result<String, RpcError>>,
    /// False for `initialize`, which the server answers in any case.
    cancellable: bool,
}

impl Bridge {
    pub(super) fn new(unread_input: usize, backlog: Option<Arc<Backlog>>) -> Self {
        Self {
            state: Mutex::default(),
            wake: Notify::new(),
            unread_input: Arc::new(Backlog::new(unread_input)),
            backlog,
            finished: watch::Sender::new(false),
            internal_limits: internal_limits(),
        }
    }

    fn state(&self) -> MutexGuard<'_, BridgeState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Passes a request to the server; `id` is the raw text of its id. The error is the response.
    pub(super) fn request(
        &self,
        id: &str,
        method: &str,
        params: &str,
    ) -> Result<PendingResponse, RpcError> {
        let key = IdKey::of(&id.into());
        let (sender, response) = oneshot::channel();
        let pending = Pending {
            response: sender,
            cancellable: method != "initialize",
        };
        {
            let mut state = self.state();
            if self.is_finished() {
                return Err(Self::closed_error());
            }
            state.pending.entry(key).or_default().push_back(pending);
        }
        self.push_line(|lines| push_request(lines, id, method, params));
        Ok(response)
    }

    /// Returns the response to a request that the server does not handle any more.
    pub(super) fn closed_error() -> RpcError {
        RpcError::internal("the server is closed")
    }

    pub(super) fn is_finished(&self) -> bool {
        *self.finished.borrow()
    }

    /// Passes a notification to the server.
    pub(super) fn notification(&self, method: &str, params: &str) {
        if method == "notifications/cancelled" {
            if let Some(id) = request_id(params) {
                // The server does not respond to it. Of several with this id, it cancels the last.
                drop(self.take_pending(&IdKey::from(&id), |pending| {
                    let last = pending.iter().rposition(|request| request.cancellable)?;
                    pending.remove(last)
                }));
            }
        }
        self.push_line(|lines| push_notification(lines, method, params));
    }

    /// Removes one of the pending requests with this id, which `take` chooses.
    fn take_pending(
        &self,
        id: &IdKey,
        take: impl FnOnce(&mut VecDeque<Pending>) -> Option<Pending>,
    ) -> Option<Pending> {
        let mut state = self.state();
        let pending = state.pending.get_mut(id)?;
        let taken = take(pending);
        if pending.is_empty() {
            state.pending.remove(id);
        }
        taken
    }

    fn push_line(&self, write: impl FnOnce(&mut Vec<u8>)) {
        let mut state = self.state();
        if self.is_finished() {
            return;
        }
        let before = state.lines.len();
        write(&mut state.lines);
        state.count += 1;
        self.unread_input.push(state.lines.len() - before);
        self.wake.notify_one();
    }

    /// Signals the end of the input; the server finishes its calls.
    pub(super) fn end(&self) {
        self.state().ended = true;
        self.wake.notify_one();
    }

    /// Waits until the server has finished.
    pub(super) async fn finished(&self) {
        let mut finished = self.finished.subscribe();
        // The sender lives as long as this borrow.
        drop(finished.wait_for(|finished| *finished).await);
    }

    /// Finishes a server that has not received any messages.
    pub(super) fn finish_unless_started(&self) {
        if !self.state().started {
            self.finish();
        }
    }

    pub(super) fn finish(&self) {
        // First, so that nothing is added to the state after it has been cleared.
        self.finished.send_replace(true);
        let server_requests = {
            let mut state = self.state();
            state.ended = true;
            state.pending.clear();
            (state.lines, state.count) = (Vec::new(), 0);
            std::mem::take(&mut state.server_requests)
        };
        server_requests.values().for_each(AbortHandle::abort);
        self.unread_input.clear();
    }

    /// Runs the server.
    pub(super) async fn run(self: Arc<Self>, server: Server, session: SessionContext) {
        let _finish = FinishGuard(Arc::clone(&self));
        self.state().started = true;
        let (ours, theirs) = duplex(PIPE);
        let (reader, writer) = split(ours);
        let (their_reader, their_writer) = split(theirs);
        let serving = async {
            let mut their_writer = their_writer;
            let connection = internal::connect_once(&server);
            let ended = connection.serve(their_reader, &mut their_writer).await;
            if let Err(error) = ended {
                tracing::debug!(%error, "a server behind jsoncall has failed");
            }
            // Its remaining output is read before the end.
            drop(their_writer.shutdown().await);
        };
        let feeding = async {
            self.feed(writer).await;
            std::future::pending::<()>().await;
        };
        let responding = async { tokio::join!(serving, self.read(reader, &session)) };
        tokio::select! {
            () = feeding => {}
            _ = responding => {}
        }
    }

    async fn feed(&self, mut writer: WriteHalf<DuplexStream>) {
        let mut lines = Vec::new();
        loop {
            self.wake.notified().await;
            let (count, ended) = {
                let mut state = self.state();
                std::mem::swap(&mut lines, &mut state.lines);
                (std::mem::take(&mut state.count), state.ended)
            };
            if writer.write_all(&lines).await.is_err() {
                return;
            }
            lines.clear();
            lines.shrink_to(PIPE);
            self.unread_input.written(count);
            if ended && self.unread_input.is_empty() {
                drop(writer.shutdown().await);
                return;
            }
        }
    }

    async fn read(self: &Arc<Self>, mut reader: ReadHalf<DuplexStream>, session: &SessionContext) {
        let mut lines = LineBuffer::new(usize::MAX);
        loop {
            if let Some(backlog) = &self.backlog {
                backlog.wait_for_room().await;
            }
            let count = reader.read(lines.room()).await.unwrap_or(0);
            lines.advance(count);
            while let Some(frame) = lines.next_frame() {
                self.on_message(&frame, session);
            }
            if count == 0 {
                return;
            }
        }
    }
}

/// Returns the id of the cancelled request.
fn request_id(params: &str) -> Option<RequestId> {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Cancelled {
        request_id: RequestId,
    }

    let cancelled: Cancelled = serde_json::from_str(params).ok()?;
    Some(cancelled.request_id)
}

/// Finishes the bridge when dropped.
struct FinishGuard(Arc<Bridge>);

impl Drop for FinishGuard {
    fn drop(&mut self) {
        self.0.finish();
    }
}
