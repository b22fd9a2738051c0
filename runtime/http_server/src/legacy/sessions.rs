//! Table of all sessions of a service, limited in size.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use http::StatusCode;
use tokio::time::Instant;
use treenail_runtime::internal::spawn_lasting;
use treenail_runtime::{Limits, Principal};

use crate::legacy::session::Session;
use crate::response::Rejection;

/// Sessions by id.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    sessions: BTreeMap<Box<str>, Arc<Session>>,
    /// A task ends expired sessions, see [`Sweeper`].
    is_swept: bool,
}

impl Sessions {
    /// Inserts a session. If the table is full, idle sessions are evicted first.
    pub(super) fn insert(
        self: &Arc<Self>,
        id: &str,
        session: Session,
        limits: &Limits,
    ) -> Result<Arc<Session>, Rejection> {
        let session = Arc::new(session);
        let mut table = self.lock();
        let mut evicted = Vec::new();
        if table.sessions.len() >= limits.http.sessions {
            evicted = evict_sessions(&mut table.sessions, limits);
        }
        let has_room = table.sessions.len() < limits.http.sessions;
        let mut is_swept = true;
        if has_room {
            table.sessions.insert(id.into(), Arc::clone(&session));
            is_swept = std::mem::replace(&mut table.is_swept, true);
        }
        drop(table);
        // Without the lock, because a runtime that is ending drops the task at once.
        if !is_swept {
            Sweeper::start(self, limits.http.session_idle_timeout);
        }
        for session in evicted {
            session.end();
        }
        if has_room {
            return Ok(session);
        }
        let message = "too many sessions are active";
        Err(Rejection::new(StatusCode::SERVICE_UNAVAILABLE, message))
    }

    /// Returns the session with this id, and records its use. A session of another principal counts as unknown.
    pub(super) fn get(
        &self,
        id: &str,
        principal: Option<&Principal>,
        limits: &Limits,
    ) -> Option<Arc<Session>> {
        let mut table = self.lock();
        let session = table.sessions.get(id);
        let session = Arc::clone(session.filter(|one| one.belongs_to(principal))?);
        if is_expired(&session, limits.http.session_idle_timeout) {
            table.sessions.remove(id);
            drop(table);
            session.end();
            return None;
        }
        session.touch();
        Some(session)
    }

    /// Ends abandoned calls until at least `count` have ended or none are left, and returns their number.
    ///
    /// Sessions with the most abandoned calls are first, because a call of a polling client only looks abandoned between two
    /// requests.
    pub(crate) fn end_abandoned_calls(&self, count: usize) -> usize {
        let mut abandoned: Vec<_> = {
            let table = self.lock();
            let sessions = table
                .sessions
                .values()
                .map(|session| (session.abandoned_calls(), session));
            sessions
                .filter(|(calls, _)| *calls > 0)
                .map(|(calls, session)| (calls, session.last_used(), Arc::clone(session)))
                .collect()
        };
        abandoned.sort_unstable_by_key(|(calls, last_used, _)| (Reverse(*calls), *last_used));
        let mut ended = 0;
        for (_, _, session) in abandoned {
            if ended >= count {
                break;
            }
            ended += session.end_abandoned_calls();
        }
        ended
    }

    /// Removes a session and ends it.
    pub(super) fn remove(&self, id: &str) {
        let session = self.lock().sessions.remove(id);
        if let Some(session) = session {
            session.end();
        }
    }

    /// Ends all expired sessions. Returns true if others are left.
    fn end_expired(&self, timeout: Duration) -> bool {
        let mut table = self.lock();
        let mut expired = Vec::new();
        table.sessions.retain(|_, session| {
            let is_expired = is_expired(session, timeout);
            if is_expired {
                expired.push(Arc::clone(session));
            }
            !is_expired
        });
        table.is_swept = !table.sessions.is_empty();
        let has_others = table.is_swept;
        drop(table);
        for session in expired {
            session.end();
        }
        has_others
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends a session when it is dropped.
pub(super) struct SessionGuard {
    pub(super) sessions: Arc<Sessions>,
    pub(super) id: String,
}

impl Drop for SessionGuard {
    fn drop(&mut self) {
        self.sessions.remove(&self.id);
    }
}

/// Task that ends the sessions that expire, until none is left. Clients rarely delete their sessions, and each may hold
/// [`HttpLimits::session_bytes`](treenail_runtime::HttpLimits::session_bytes).
struct Sweeper {
    /// Empty after the end of the last session.
    sessions: Weak<Sessions>,
}

impl Sweeper {
    fn start(sessions: &Arc<Sessions>, timeout: Duration) {
        let sessions = Arc::downgrade(sessions);
        spawn_lasting(Self { sessions }.run(timeout));
    }

    async fn run(mut self, timeout: Duration) {
        loop {
            // A session ends at most a quarter of the timeout late.
            tokio::time::sleep((timeout / 4).max(Duration::from_millis(100))).await;
            let Some(sessions) = self.sessions.upgrade() else {
                return;
            };
            if !sessions.end_expired(timeout) {
                // A new session may have started another task.
                self.sessions = Weak::new();
                return;
            }
        }
    }
}

/// If the runtime of the task ends first, the next session starts another task.
impl Drop for Sweeper {
    fn drop(&mut self) {
        if let Some(sessions) = self.sessions.upgrade() {
            sessions.lock().is_swept = false;
        }
    }
}

fn is_expired(session: &Session, timeout: Duration) -> bool {
    let is_idle = || session.last_used().elapsed() > timeout;
    // A call or a stream that has just ended counts as use, so the time is read again.
    session.has_ended() || (is_idle() && !session.is_active() && is_idle())
}

/// Removes the sessions idle for longest and all others beyond the idle timeout, and returns them.
///
/// It removes several at once, so that a flood of new sessions does not search the whole table each time.
///
/// If hardly any session is idle, abandoned ones count as idle too. Otherwise a client could block all others by starting
/// calls and disconnecting. A client that stays connected needs a connection per session, and connections are limited.
fn evict_sessions(
    table: &mut BTreeMap<Box<str>, Arc<Session>>,
    limits: &Limits,
) -> Vec<Arc<Session>> {
    let batch = (limits.http.sessions / 16).max(1);
    let mut idle = find_sessions(table, |session| !session.is_active());
    if idle.len() <= batch {
        idle = find_sessions(table, |session| {
            !session.is_active() || session.is_abandoned()
        });
    }
    let batch = batch.min(idle.len());
    if batch > 0 {
        idle.select_nth_unstable(batch - 1);
    }
    let is_expired = |last_used: &Instant| last_used.elapsed() > limits.http.session_idle_timeout;
    let (oldest, others) = idle.split_at(batch);
    let others = others.iter().filter(|(last_used, _)| is_expired(last_used));
    let evicted = oldest.iter().chain(others);
    evicted.filter_map(|(_, id)| table.remove(id)).collect()
}

/// Returns last use and id of the sessions for which `is_selected` returns true.
fn find_sessions(
    table: &BTreeMap<Box<str>, Arc<Session>>,
    is_selected: impl Fn(&Session) -> bool,
) -> Vec<(Instant, Box<str>)> {
    let found = table.iter().filter(|(_, session)| is_selected(session));
    found
        .map(|(id, session)| (session.last_used(), id.clone()))
        .collect()
}
