//! Calls that wait at a server of the legacy era while a client of the modern era is asked. The client has the question as the
//! result of its request, and the next round of the request continues the call.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::task::AbortHandle;
use treenail_runtime::{ClientIdentity, Context, Principal};

use crate::event::Question;
use crate::exchange::Exchange;
use crate::limits::ProxyLimits;
use crate::link::Link;

/// Waiting calls of a proxy, by a random id that the sealed state of the client contains.
#[derive(Clone, Debug, Default)]
pub(crate) struct WaitingCalls(Arc<Mutex<Table>>);

#[derive(Debug, Default)]
struct Table {
    calls: HashMap<Box<str>, Entry>,
    next: u64,
}

/// Entry of a call, as long as it waits.
#[derive(Debug)]
struct Entry {
    /// Number of the entry. A timer that has expired already must not remove a later entry of the call.
    number: u64,
    call: WaitingCall,
    /// Task that removes the entry after the time of the call.
    timer: AbortHandle,
}

impl Entry {
    /// Returns the call, which does not wait any longer.
    fn into_call(self) -> WaitingCall {
        self.timer.abort();
        self.call
    }
}

impl Table {
    /// Returns the reason if no more calls may wait, or none of the client or the server of this one.
    fn check_room(&self, next: &WaitingCall, limits: &ProxyLimits) -> Result<(), &'static str> {
        let calls = self.calls.values().map(|entry| &entry.call);
        let of_client = calls.clone().filter(|it| it.client.is_same(&next.client));
        let at_server = calls.filter(|it| Arc::ptr_eq(&it.link, &next.link));
        let of_client_at_server = at_server
            .clone()
            .filter(|it| it.client.is_same(&next.client));
        let most_at_server = next.link.max_waiting_calls();
        if self.calls.len() >= limits.waiting_calls {
            Err("too many calls of this proxy wait for their clients")
        } else if of_client.count() >= limits.waiting_calls_per_client {
            Err("too many calls of this client wait for its answers")
        } else if at_server.count() >= most_at_server {
            Err("too many calls of this server wait for their clients")
        } else if of_client_at_server.count() >= most_at_server.div_ceil(2) {
            Err("too many calls of this client at this server wait for its answers")
        } else {
            Ok(())
        }
    }
}

/// Call that waits.
pub(crate) struct WaitingCall {
    pub(crate) exchange: Exchange,
    /// The question that the client has not answered yet, with its number.
    pub(crate) question: Question,
    pub(crate) number: u32,
    link: Arc<Link>,
    owner: Option<Principal>,
    client: ClientIdentity,
}

impl fmt::Debug for WaitingCall {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("WaitingCall")
            .field("question", &self.question)
            .field("number", &self.number)
            .finish_non_exhaustive()
    }
}

impl WaitingCall {
    pub(crate) fn new(
        exchange: Exchange,
        question: Question,
        number: u32,
        (link, context): (&Arc<Link>, &Context),
    ) -> Self {
        Self {
            exchange,
            question,
            number,
            link: Arc::clone(link),
            owner: context.principal().cloned(),
            client: context.client_identity(),
        }
    }
}

impl WaitingCalls {
    /// Takes the call out of the table, if it is of the same caller.
    pub(crate) fn take(&self, id: &str, context: &Context) -> Option<WaitingCall> {
        let mut table = self.lock();
        let call = &table.calls.get(id)?.call;
        if call.owner.as_ref() != context.principal() {
            return None;
        }
        table.calls.remove(id).map(Entry::into_call)
    }

    /// Returns the reason if the call may not wait.
    pub(crate) fn check_room(
        &self,
        call: &WaitingCall,
        limits: &ProxyLimits,
    ) -> Result<(), &'static str> {
        self.lock().check_room(call, limits)
    }

    /// Lets a call wait until it is taken, or cancels it after its time.
    fn park(&self, id: &str, call: WaitingCall, limits: &ProxyLimits) {
        let mut table = self.lock();
        if table.check_room(&call, limits).is_err() {
            drop(table);
            return;
        }
        let number = table.next;
        table.next += 1;
        let timer = self.start_timer(id, number, limits);
        let entry = Entry {
            number,
            call,
            timer,
        };
        let replaced = table.calls.insert(id.into(), entry);
        drop(table);
        drop(replaced.map(Entry::into_call));
    }

    fn start_timer(&self, id: &str, number: u64, limits: &ProxyLimits) -> AbortHandle {
        let (waiting, id, time) = (self.clone(), id.to_owned(), limits.waiting_timeout);
        let task = tokio::spawn(async move {
            tokio::time::sleep(time).await;
            waiting.expire(&id, number);
        });
        task.abort_handle()
    }

    fn expire(&self, id: &str, number: u64) {
        let mut table = self.lock();
        let entry = table.calls.get(id);
        let is_expired = entry.is_some_and(|entry| entry.number == number);
        let expired = is_expired.then(|| table.calls.remove(id));
        drop(table);
        drop(expired);
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Guard of a call whose function may be stopped by a question. Dropping it lets the call wait, if the function runs again for the
/// answer. The function of a task does not, so the call is cancelled with it.
pub(crate) struct Parked<'a> {
    waiting: &'a WaitingCalls,
    limits: &'a ProxyLimits,
    context: &'a Context,
    id: &'a str,
    call: Option<WaitingCall>,
}

impl<'a> Parked<'a> {
    pub(crate) fn new(
        waiting: &'a WaitingCalls,
        limits: &'a ProxyLimits,
        context: &'a Context,
        id: &'a str,
        mut call: WaitingCall,
    ) -> Self {
        call.exchange.pause();
        let call = Some(call);
        Self {
            waiting,
            limits,
            context,
            id,
            call,
        }
    }

    /// Returns the call.
    pub(crate) fn call(&mut self) -> Option<&mut WaitingCall> {
        self.call.as_mut()
    }

    /// Returns the call, which does not wait any longer.
    pub(crate) fn into_call(mut self) -> Option<WaitingCall> {
        let mut call = self.call.take();
        if let Some(call) = &mut call {
            call.exchange.resume();
        }
        call
    }
}

impl Drop for Parked<'_> {
    fn drop(&mut self) {
        if let Some(call) = self
            .call
            .take()
            .filter(|_| self.context.reruns_for_answers())
        {
            self.waiting.park(self.id, call, self.limits);
        }
    }
}
