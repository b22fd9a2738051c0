//! Calls that wait at a server of the legacy era while a client of the modern era is asked. The client has the question as the
//! result of its request, and the next round of the request continues the call.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use treenail_runtime::{ClientIdentity, Context, Principal};

use crate::event::Question;
use crate::exchange::Exchange;
use crate::limits::ProxyLimits;

/// Waiting calls of a proxy, by a random id that the sealed state of the client contains.
#[derive(Clone, Debug, Default)]
pub(crate) struct WaitingCalls(Arc<Mutex<Table>>);

#[derive(Debug, Default)]
struct Table {
    calls: HashMap<Box<str>, (u64, WaitingCall)>,
    next: u64,
}

impl Table {
    /// Returns the reason if no more calls may wait, or none of this client.
    fn check_room(
        &self,
        client: &ClientIdentity,
        limits: &ProxyLimits,
    ) -> Result<(), &'static str> {
        let calls = self.calls.values();
        let of_client = calls.filter(|(_, call)| call.client.is_same(client));
        if self.calls.len() >= limits.waiting_calls {
            Err("too many calls of this proxy wait for their clients")
        } else if of_client.count() >= limits.waiting_calls_per_client {
            Err("too many calls of this client wait for its answers")
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
        context: &Context,
    ) -> Self {
        Self {
            exchange,
            question,
            number,
            owner: context.principal().cloned(),
            client: context.client_identity(),
        }
    }
}

impl WaitingCalls {
    /// Takes the call out of the table, if it is of the same caller.
    pub(crate) fn take(&self, id: &str, context: &Context) -> Option<WaitingCall> {
        let mut table = self.lock();
        let (_, call) = table.calls.get(id)?;
        if call.owner.as_ref() != context.principal() {
            return None;
        }
        let (_, mut call) = table.calls.remove(id)?;
        drop(table);
        call.exchange.resume();
        Some(call)
    }

    /// Returns the reason if the call may not wait.
    pub(crate) fn check_room(
        &self,
        call: &WaitingCall,
        limits: &ProxyLimits,
    ) -> Result<(), &'static str> {
        self.lock().check_room(&call.client, limits)
    }

    /// Lets a call wait until it is taken, or cancels it after its time.
    fn park(&self, id: &str, mut call: WaitingCall, limits: &ProxyLimits) {
        call.exchange.pause();
        let mut table = self.lock();
        if table.check_room(&call.client, limits).is_err() {
            drop(table);
            return;
        }
        let visit = table.next;
        table.next += 1;
        let replaced = table.calls.insert(id.into(), (visit, call));
        drop(table);
        drop(replaced);
        let (waiting, id, time) = (self.clone(), id.to_owned(), limits.waiting_time);
        tokio::spawn(async move {
            tokio::time::sleep(time).await;
            waiting.expire(&id, visit);
        });
    }

    fn expire(&self, id: &str, visit: u64) {
        let mut table = self.lock();
        let expired = table
            .calls
            .get(id)
            .is_some_and(|(number, _)| *number == visit);
        let call = expired.then(|| table.calls.remove(id));
        drop(table);
        drop(call);
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Guard of a call whose function may be stopped by a question. Dropping it lets the call wait.
pub(crate) struct Parked<'a> {
    waiting: &'a WaitingCalls,
    limits: &'a ProxyLimits,
    id: &'a str,
    call: Option<WaitingCall>,
}

impl<'a> Parked<'a> {
    pub(crate) fn new(
        waiting: &'a WaitingCalls,
        limits: &'a ProxyLimits,
        id: &'a str,
        call: WaitingCall,
    ) -> Self {
        let call = Some(call);
        Self {
            waiting,
            limits,
            id,
            call,
        }
    }

    /// Returns the call, which does not wait any longer.
    pub(crate) fn into_call(mut self) -> Option<WaitingCall> {
        self.call.take()
    }
}

impl Drop for Parked<'_> {
    fn drop(&mut self) {
        if let Some(call) = self.call.take() {
            self.waiting.park(self.id, call, self.limits);
        }
    }
}
