//! A server behind a handler of `jsoncall`: its messages as the server reads and writes them.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ::jsoncall::SessionContext;
use serde_json::value::RawValue;
use tokio::io::DuplexStream;
use tokio::io::{AsyncReadExt, AsyncWriteExt, ReadHalf, WriteHalf, duplex, split};
use tokio::sync::{Notify, oneshot, watch};
use tokio::task::AbortHandle;
use treenail_schema::RequestId;

use crate::jsoncall::backlog::Backlog;
use crate::jsoncall::convert::{
    from_jsoncall, push_notification, push_request, push_response, raw, read_error,
};
use crate::jsoncall::guard::{PIPE, internal_limits};
use crate::limits::Limits;
use crate::server::Server;
use crate::wire::{Body, Envelope, Frame, LineBuffer, Message, RpcError, parse};

/// The answer to a request of the peer; nobody sends one when the request has been cancelled.
pub(super) type PendingResponse = oneshot::Receiver<Result<String, RpcError>>;

/// What a handler shares with the task in which its server runs.
#[derive(Debug)]
pub(super) struct Bridge {
    state: Mutex<BridgeState>,
    wake: Notify,
    /// What the server has not taken yet, so that the guard can hold back more.
    pub(super) unread_input: Arc<Backlog>,
    /// What the peer has not taken yet, if there is a guard that counts it.
    pub(super) backlog: Option<Arc<Backlog>>,
    finished: watch::Sender<bool>,
    internal_limits: Limits,
}

#[derive(Debug, Default)]
struct BridgeState {
    /// Lines for the server.
    lines: Vec<u8>,
    count: usize,
    started: bool,
    ended: bool,
    /// Who waits for an answer of the server. Nothing keeps a peer from giving two requests one id.
    pending: HashMap<RequestId, VecDeque<oneshot::Sender<Result<String, RpcError>>>>,
    /// The questions of the server to the peer.
    server_requests: HashMap<RequestId, AbortHandle>,
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

    /// Passes a request on to the server; `id` is the text of its id.
    pub(super) fn request(&self, id: &str, method: &str, params: &str) -> Option<PendingResponse> {
        let key: RequestId = serde_json::from_str(id).ok()?;
        let (sender, response) = oneshot::channel();
        {
            let mut state = self.state();
            state.pending.entry(key).or_default().push_back(sender);
        }
        self.push_line(|lines| push_request(lines, id, method, params));
        Some(response)
    }

    /// Passes a notification on to the server.
    pub(super) fn notification(&self, method: &str, params: &str) {
        if method == "notifications/cancelled" {
            if let Some(id) = request_id(params) {
                // The server will not answer.
                self.state().pending.remove(&id);
            }
        }
        self.push_line(|lines| push_notification(lines, method, params));
    }

    fn push_line(&self, write: impl FnOnce(&mut Vec<u8>)) {
        let mut state = self.state();
        let before = state.lines.len();
        write(&mut state.lines);
        state.count += 1;
        self.unread_input.push(state.lines.len() - before);
        self.wake.notify_one();
    }

    /// Nothing will come any more: the server finishes what it has begun.
    pub(super) fn end(&self) {
        self.state().ended = true;
        self.wake.notify_one();
    }

    /// Ready when the server has finished.
    pub(super) async fn finished(&self) {
        let mut finished = self.finished.subscribe();
        // The sender lives as long as this borrow.
        drop(finished.wait_for(|finished| *finished).await);
    }

    /// A server that nobody has said anything to has nothing to finish.
    pub(super) fn finish_unless_started(&self) {
        if !self.state().started {
            self.finish();
        }
    }

    pub(super) fn finish(&self) {
        let server_requests = {
            let mut state = self.state();
            state.ended = true;
            state.pending.clear();
            std::mem::take(&mut state.server_requests)
        };
        server_requests.values().for_each(AbortHandle::abort);
        self.unread_input.clear();
        self.finished.send_replace(true);
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
            let ended = server.serve(their_reader, &mut their_writer).await;
            if let Err(error) = ended {
                tracing::debug!(%error, "a server behind jsoncall has stopped");
            }
            // Its last words are read, and then the end.
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
            while let Some(frame) = lines.next() {
                self.on_message(&frame, session);
            }
            if count == 0 {
                return;
            }
        }
    }

    /// Passes on one message of the server.
    fn on_message(self: &Arc<Self>, frame: &Frame<'_>, session: &SessionContext) {
        let Frame::Line(line) = frame else { return };
        let Body::One(message) = parse(line, &self.internal_limits) else {
            return;
        };
        match message {
            Ok(Message::Response(id, response)) => self.on_response(id, response),
            Ok(Message::Notification(envelope)) => self.on_notification(&envelope, session),
            Ok(Message::Request(id, envelope)) => self.on_request(id, &envelope, session),
            Err(invalid) => tracing::debug!(error = %invalid.error, "an error without a request"),
        }
    }

    fn on_response(&self, id: &str, response: Result<&str, &str>) {
        let pending = serde_json::from_str(id).ok().and_then(|id| {
            let mut state = self.state();
            let pending = state.pending.get_mut(&id)?;
            let sender = pending.pop_front();
            if pending.is_empty() {
                state.pending.remove(&id);
            }
            sender
        });
        let Some(pending) = pending else { return };
        let response = response.map(str::to_owned).map_err(|error| {
            read_error(error).unwrap_or_else(|| RpcError::internal("the error cannot be told"))
        });
        self.count_output(response.as_ref().map_or(0, String::len));
        // One that has just been cancelled needs no answer.
        drop(pending.send(response));
    }

    fn on_notification(&self, envelope: &Envelope<'_>, session: &SessionContext) {
        let params = envelope.params.text.unwrap_or("{}");
        if envelope.method == "notifications/cancelled" {
            let server_request =
                request_id(params).and_then(|id| self.state().server_requests.remove(&id));
            if let Some(server_request) = server_request {
                // The id is that of `jsoncall`, which takes its request back.
                server_request.abort();
                return;
            }
        }
        if let Some(params) = raw(params.to_owned()) {
            self.count_output(params.get().len());
            if let Err(error) = session.notification(&envelope.method, Some(&params)) {
                tracing::debug!(%error, "a notification was not sent");
            }
        }
    }

    /// Asks the peer what the server wants to know, with an id of `jsoncall`.
    fn on_request(self: &Arc<Self>, id: &str, envelope: &Envelope<'_>, session: &SessionContext) {
        let (Ok(key), Some(params)) = (
            serde_json::from_str::<RequestId>(id),
            raw(envelope.params.text.unwrap_or("{}").to_owned()),
        ) else {
            return;
        };
        self.count_output(params.get().len());
        let (bridge, session) = (Arc::clone(self), session.clone());
        let (id, method) = (id.to_owned(), envelope.method.clone().into_owned());
        // Held while it is begun, so that its end finds it in the table.
        let mut state = self.state();
        let key_of_request = key.clone();
        let server_request = tokio::spawn(async move {
            let response = session
                .request::<Box<RawValue>>(&method, Some(&params))
                .await;
            let response = response.map_err(|error| match error.error_object() {
                Some(error) => from_jsoncall(error),
                None => RpcError::internal("the connection is closed"),
            });
            bridge.state().server_requests.remove(&key_of_request);
            bridge
                .push_line(|lines| push_response(lines, &id, response.as_ref().map(|it| it.get())));
        });
        state
            .server_requests
            .insert(key, server_request.abort_handle());
    }

    fn count_output(&self, bytes: usize) {
        if let Some(backlog) = &self.backlog {
            backlog.push(bytes);
        }
    }
}

/// The request that a cancellation is about.
fn request_id(params: &str) -> Option<RequestId> {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Cancelled {
        request_id: RequestId,
    }

    let cancelled: Cancelled = serde_json::from_str(params).ok()?;
    Some(cancelled.request_id)
}

/// Lets all know of the end, however it comes.
struct FinishGuard(Arc<Bridge>);

impl Drop for FinishGuard {
    fn drop(&mut self) {
        self.0.finish();
    }
}
