//! Calls in flight at one server, and the call that a message of the server belongs to.

use std::collections::{HashMap, VecDeque};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, mpsc};
use tokio::time::Instant;
use treenail_runtime::ClientIdentity;

use crate::event::Event;

/// Time in which a server may still send requests for a call that was cancelled.
const CANCELLED_CALL_RETENTION: Duration = Duration::from_secs(60);

/// Maximum number of clients whose cancelled calls are remembered.
const MAX_CANCELLED: usize = 256;

/// Calls in flight at one connection to a server.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    state: Mutex<State>,
    /// Notified of the end of each call.
    ended: Notify,
}

#[derive(Debug, Default)]
struct State {
    running: HashMap<i64, Running>,
    /// Clients of the calls that were cancelled not long ago, each once, the latest at the end, at most [`MAX_CANCELLED`].
    cancelled: VecDeque<(Instant, ClientIdentity)>,
}

#[derive(Debug)]
struct Running {
    client: ClientIdentity,
    events: mpsc::Sender<Event>,
}

/// Reason why the call of a message is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unrelated {
    /// No call is in flight.
    NoCall,
    /// Another call is in flight, not certainly of the same client.
    OtherRunning,
    /// Another call, not certainly of the same client, ended a moment ago without an answer.
    OtherEnded,
}

impl State {
    /// Notes that a call of the client was cancelled.
    fn note_cancelled(&mut self, client: ClientIdentity) {
        self.cancelled
            .retain(|(at, other)| is_recent(*at) && !other.is_same(&client));
        if self.cancelled.len() == MAX_CANCELLED {
            // While its call is recent, so are those of the others, which are of other clients too.
            self.cancelled.pop_front();
        }
        self.cancelled.push_back((Instant::now(), client));
    }
}

/// Returns true if a server may still send requests for a call that was cancelled at that time.
fn is_recent(cancelled: Instant) -> bool {
    cancelled.elapsed() < CANCELLED_CALL_RETENTION
}

impl Calls {
    /// Adds a call until the guard is dropped.
    pub(crate) fn register(
        self: &Arc<Self>,
        id: i64,
        client: ClientIdentity,
        capacity: usize,
    ) -> (CallGuard, mpsc::Receiver<Event>) {
        let (events, receiver) = mpsc::channel(capacity.max(1));
        self.lock().running.insert(id, Running { client, events });
        let guard = CallGuard {
            calls: Arc::clone(self),
            id,
            finished: false,
        };
        (guard, receiver)
    }

    /// Returns the receiver of the messages for the call `id`.
    pub(crate) fn by_id(&self, id: i64) -> Option<mpsc::Sender<Event>> {
        self.lock().running.get(&id).map(|call| call.events.clone())
    }

    /// Returns the id and the receiver of a message without a relation to a call: the newest call, if all calls are of one client.
    ///
    /// A message for one client must never reach another, so calls that were cancelled shortly before count too: the server may
    /// not have noticed.
    pub(crate) fn only_client(&self) -> Result<(i64, mpsc::Sender<Event>), Unrelated> {
        let state = self.lock();
        let (id, newest) = state
            .running
            .iter()
            .max_by_key(|(id, _)| **id)
            .ok_or(Unrelated::NoCall)?;
        let is_other = |client: &ClientIdentity| !client.is_same(&newest.client);
        if state.running.values().any(|call| is_other(&call.client)) {
            return Err(Unrelated::OtherRunning);
        }
        let mut recent = state.cancelled.iter().filter(|(at, _)| is_recent(*at));
        if recent.any(|(_, client)| is_other(client)) {
            return Err(Unrelated::OtherEnded);
        }
        Ok((*id, newest.events.clone()))
    }

    /// Waits until no call is in flight.
    pub(crate) async fn finished(&self) {
        self.wait_until(|state| state.running.is_empty()).await;
    }

    /// Waits until no call of the client is in flight.
    pub(crate) async fn finished_of(&self, client: &ClientIdentity) {
        self.wait_until(|state| !state.running.values().any(|it| it.client.is_same(client)))
            .await;
    }

    async fn wait_until(&self, condition: impl Fn(&State) -> bool) {
        loop {
            let mut ended = pin!(self.ended.notified());
            // Before the check, so that no end is missed.
            ended.as_mut().enable();
            if condition(&self.lock()) {
                return;
            }
            ended.await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Call in flight. Dropping it removes the call.
#[derive(Debug)]
pub(crate) struct CallGuard {
    calls: Arc<Calls>,
    id: i64,
    finished: bool,
}

impl CallGuard {
    /// Notes that the server has answered the call.
    pub(crate) fn finish(&mut self) {
        self.finished = true;
    }
}

impl Drop for CallGuard {
    fn drop(&mut self) {
        let mut state = self.calls.lock();
        let Some(call) = state.running.remove(&self.id) else {
            return;
        };
        if !self.finished {
            state.note_cancelled(call.client);
        }
        drop(state);
        self.calls.ended.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use std::task::{Context as TaskContext, Waker};

    use tokio::time::advance;
    use treenail_runtime::dynamic::Tool;
    use treenail_runtime::{Handled, Principal, Server};

    use super::*;

    /// Returns the identities of different clients.
    fn clients(count: usize) -> Vec<ClientIdentity> {
        let found = Arc::<Mutex<Vec<_>>>::default();
        let log = Arc::clone(&found);
        let identify = Tool::new("identify").handler(move |cx, _| {
            log.lock().unwrap().push(cx.client_identity());
            async { "done" }
        });
        let server = Server::builder("x", "1").add(identify).build().unwrap();
        for number in 0..count {
            let mut connection = server.connect();
            connection
                .extensions_mut()
                .insert(Principal::new(number.to_string()));
            let call = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"identify","_meta":{
                "io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
            if let Handled::Pending(call) = connection.handle_message(call, &mut Vec::new()) {
                let mut call = pin!(call);
                let _ = call
                    .as_mut()
                    .poll(&mut TaskContext::from_waker(Waker::noop()));
            }
        }
        std::mem::take(&mut *found.lock().unwrap())
    }

    #[tokio::test(start_paused = true)]
    async fn a_message_may_belong_to_a_client_that_was_forgotten() {
        let calls = Arc::<Calls>::default();
        let clients = clients(MAX_CANCELLED + 1);
        assert_eq!(clients.len(), MAX_CANCELLED + 1);
        for client in &clients {
            drop(calls.register(1, client.clone(), 1));
        }
        let last = clients.last().unwrap();
        let _running = calls.register(2, last.clone(), 1);
        let unrelated = calls.only_client().map(drop);
        assert_eq!(unrelated, Err(Unrelated::OtherEnded));
        advance(CANCELLED_CALL_RETENTION).await;
        assert_eq!(calls.only_client().map(drop), Ok(()));
    }
}
