//! Rights to send the questions of tasks to clients of 2025-11-25. Each question is with one session of this process.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::engine::Engine;
use crate::store::TaskId;

type Question = (TaskId, String);

/// Questions that sessions of this process have been sent.
#[derive(Debug, Default)]
pub(crate) struct Carried(Mutex<HashMap<Question, Arc<Carrier>>>);

/// Session with a question.
#[derive(Debug)]
struct Carrier {
    session: usize,
    /// Notified when another session takes over.
    lost: Notify,
}

impl Carried {
    fn lock(&self) -> MutexGuard<'_, HashMap<Question, Arc<Carrier>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Right of a session to send a question.
pub(super) struct Claim {
    pub(super) engine: Arc<Engine>,
    question: Question,
    carrier: Arc<Carrier>,
}

impl Claim {
    /// Claims a question that no session has.
    pub(super) fn of_free(
        engine: &Arc<Engine>,
        id: &TaskId,
        key: &str,
        session: usize,
    ) -> Option<Self> {
        let question = (id.clone(), key.to_owned());
        match engine.carried.lock().entry(question.clone()) {
            Entry::Vacant(entry) => {
                let carrier = Arc::clone(entry.insert(Carrier::new(session)));
                Some(Self::new(engine, question, carrier))
            }
            Entry::Occupied(_) => None,
        }
    }

    /// Claims a question, unless the session has it. Another session loses it: its client may be gone.
    pub(super) fn take(
        engine: &Arc<Engine>,
        id: &TaskId,
        key: &str,
        session: usize,
    ) -> Option<Self> {
        let question = (id.clone(), key.to_owned());
        let mut claims = engine.carried.lock();
        if let Some(carrier) = claims.get(&question) {
            if carrier.session == session {
                return None;
            }
            carrier.lost.notify_one();
        }
        let carrier = Carrier::new(session);
        claims.insert(question.clone(), Arc::clone(&carrier));
        drop(claims);
        Some(Self::new(engine, question, carrier))
    }

    fn new(engine: &Arc<Engine>, question: Question, carrier: Arc<Carrier>) -> Self {
        Self {
            engine: Arc::clone(engine),
            question,
            carrier,
        }
    }

    pub(super) fn task(&self) -> &TaskId {
        &self.question.0
    }

    pub(super) fn key(&self) -> &str {
        &self.question.1
    }

    /// Waits until another session takes over.
    pub(super) async fn lost(&self) {
        self.carrier.lost.notified().await;
    }
}

impl Carrier {
    fn new(session: usize) -> Arc<Self> {
        Arc::new(Self {
            session,
            lost: Notify::new(),
        })
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let mut carried = self.engine.carried.lock();
        if let Entry::Occupied(entry) = carried.entry(self.question.clone()) {
            if Arc::ptr_eq(entry.get(), &self.carrier) {
                entry.remove();
            }
        }
    }
}
