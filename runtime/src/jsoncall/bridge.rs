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
    from_jsoncall, push_answer, push_notification, push_request, raw, read_error,
};
use crate::jsoncall::guard::{PIPE, own_limits};
use crate::limits::Limits;
use crate::server::Server;
use crate::wire::{Body, Envelope, Frame, LineBuffer, Message, RpcError, parse};

/// The answer to a request of the peer; nobody sends one when the request has been cancelled.
pub(super) type Answer = oneshot::Receiver<Result<String, RpcError>>;

/// What a handler shares with the task in which its server runs.
#[derive(Debug)]
pub(super) struct Bridge {
    state: Mutex<State>,
    told: Notify,
    /// What the server has not taken yet, so that the guard can hold back more.
    pub(super) held: Arc<Backlog>,
    /// What the peer has not taken yet, if there is a guard that counts it.
    pub(super) backlog: Option<Arc<Backlog>>,
    finished: watch::Sender<bool>,
    own_limits: Limits,
}

#[derive(Debug, Default)]
struct State {
    /// Lines for the server.
    lines: Vec<u8>,
    count: usize,
    started: bool,
    ended: bool,
    /// Who waits for an answer of the server. Nothing keeps a peer from giving two requests one id.
    waiting: HashMap<RequestId, VecDeque<oneshot::Sender<Result<String, RpcError>>>>,
    /// The questions of the server to the peer.
    questions: HashMap<RequestId, AbortHandle>,
}

impl Bridge {
    pub(super) fn new(held: usize, backlog: Option<Arc<Backlog>>) -> Self {
        Self {
            state: Mutex::default(),
            told: Notify::new(),
            held: Arc::new(Backlog::new(held)),
            backlog,
            finished: watch::Sender::new(false),
            own_limits: own_limits(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Passes a request on to the server; `id` is the text of its id.
    pub(super) fn request(&self, id: &str, method: &str, params: &str) -> Option<Answer> {
        let key: RequestId = serde_json::from_str(id).ok()?;
        let (sender, answer) = oneshot::channel();
        {
            let mut state = self.state();
            state.waiting.entry(key).or_default().push_back(sender);
        }
        self.line(|lines| push_request(lines, id, method, params));
        Some(answer)
    }

    /// Passes a notification on to the server.
    pub(super) fn notification(&self, method: &str, params: &str) {
        if method == "notifications/cancelled" {
            if let Some(id) = request_id(params) {
                // The server will not answer.
                self.state().waiting.remove(&id);
            }
        }
        self.line(|lines| push_notification(lines, method, params));
    }

    fn line(&self, write: impl FnOnce(&mut Vec<u8>)) {
        let mut state = self.state();
        let before = state.lines.len();
        write(&mut state.lines);
        state.count += 1;
        self.held.push(state.lines.len() - before);
        self.told.notify_one();
    }

    /// Nothing will come any more: the server finishes what it has begun.
    pub(super) fn end(&self) {
        self.state().ended = true;
        self.told.notify_one();
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
        let questions = {
            let mut state = self.state();
            state.ended = true;
            state.waiting.clear();
            std::mem::take(&mut state.questions)
        };
        questions.values().for_each(AbortHandle::abort);
        self.held.clear();
        self.finished.send_replace(true);
    }

    /// Runs the server.
    pub(super) async fn run(self: Arc<Self>, server: Server, session: SessionContext) {
        let _finish = Finish(Arc::clone(&self));
        self.state().started = true;
        let (ours, theirs) = duplex(PIPE);
        let (reader, writer) = split(ours);
        let (their_reader, their_writer) = split(theirs);
        let serving = async {
            let mut their_writer = their_writer;
            let connection = server.connect().for_one_session();
            let ended = connection.serve(their_reader, &mut their_writer).await;
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
        let answering = async { tokio::join!(serving, self.read(reader, &session)) };
        tokio::select! {
            () = feeding => {}
            _ = answering => {}
        }
    }

    async fn feed(&self, mut writer: WriteHalf<DuplexStream>) {
        let mut lines = Vec::new();
        loop {
            self.told.notified().await;
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
            self.held.written(count);
            if ended && self.held.is_empty() {
                drop(writer.shutdown().await);
                return;
            }
        }
    }

    async fn read(self: &Arc<Self>, mut reader: ReadHalf<DuplexStream>, session: &SessionContext) {
        let mut lines = LineBuffer::new(usize::MAX);
        loop {
            if let Some(backlog) = &self.backlog {
                backlog.room().await;
            }
            let count = reader.read(lines.room()).await.unwrap_or(0);
            lines.advance(count);
            while let Some(frame) = lines.next() {
                self.take(&frame, session);
            }
            if count == 0 {
                return;
            }
        }
    }

    /// Passes on one message of the server.
    fn take(self: &Arc<Self>, frame: &Frame<'_>, session: &SessionContext) {
        let Frame::Line(line) = frame else { return };
        let Body::One(message) = parse(line, &self.own_limits) else {
            return;
        };
        match message {
            Ok(Message::Response(id, answer)) => self.answer(id, answer),
            Ok(Message::Notification(envelope)) => self.notify(&envelope, session),
            Ok(Message::Request(id, envelope)) => self.ask(id, &envelope, session),
            Err(invalid) => tracing::debug!(error = %invalid.error, "an error without a request"),
        }
    }

    fn answer(&self, id: &str, answer: Result<&str, &str>) {
        let waiting = serde_json::from_str(id).ok().and_then(|id| {
            let mut state = self.state();
            let waiting = state.waiting.get_mut(&id)?;
            let sender = waiting.pop_front();
            if waiting.is_empty() {
                state.waiting.remove(&id);
            }
            sender
        });
        let Some(waiting) = waiting else { return };
        let answer = answer.map(str::to_owned).map_err(|error| {
            read_error(error).unwrap_or_else(|| RpcError::internal("the error cannot be told"))
        });
        self.count(answer.as_ref().map_or(0, String::len));
        // One that has just been cancelled needs no answer.
        drop(waiting.send(answer));
    }

    fn notify(&self, envelope: &Envelope<'_>, session: &SessionContext) {
        let params = envelope.params.text.unwrap_or("{}");
        if envelope.method == "notifications/cancelled" {
            let question = request_id(params).and_then(|id| self.state().questions.remove(&id));
            if let Some(question) = question {
                // The id is that of `jsoncall`, which takes its request back.
                question.abort();
                return;
            }
        }
        if let Some(params) = raw(params.to_owned()) {
            self.count(params.get().len());
            if let Err(error) = session.notification(&envelope.method, Some(&params)) {
                tracing::debug!(%error, "a notification was not sent");
            }
        }
    }

    /// Asks the peer what the server wants to know, with an id of `jsoncall`.
    fn ask(self: &Arc<Self>, id: &str, envelope: &Envelope<'_>, session: &SessionContext) {
        let (Ok(key), Some(params)) = (
            serde_json::from_str::<RequestId>(id),
            raw(envelope.params.text.unwrap_or("{}").to_owned()),
        ) else {
            return;
        };
        self.count(params.get().len());
        let (bridge, session) = (Arc::clone(self), session.clone());
        let (id, method) = (id.to_owned(), envelope.method.clone().into_owned());
        // Held while it is begun, so that its end finds it in the table.
        let mut state = self.state();
        let answered = key.clone();
        let question = tokio::spawn(async move {
            let answer = session
                .request::<Box<RawValue>>(&method, Some(&params))
                .await;
            let answer = answer.map_err(|error| match error.error_object() {
                Some(error) => from_jsoncall(error),
                None => RpcError::internal("the connection is closed"),
            });
            bridge.state().questions.remove(&answered);
            bridge.line(|lines| push_answer(lines, &id, answer.as_ref().map(|it| it.get())));
        });
        state.questions.insert(key, question.abort_handle());
    }

    fn count(&self, bytes: usize) {
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
struct Finish(Arc<Bridge>);

impl Drop for Finish {
    fn drop(&mut self) {
        self.0.finish();
    }
}
