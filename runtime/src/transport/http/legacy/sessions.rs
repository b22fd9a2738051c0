//! All sessions of a service, no more than there may be.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::StatusCode;
use tokio::time::Instant;

use crate::extensions::Principal;
use crate::limits::Limits;
use crate::transport::http::legacy::session::Session;
use crate::transport::http::reply::Refusal;

/// The sessions by their ids.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    table: Mutex<HashMap<Box<str>, Arc<Session>>>,
}

impl Sessions {
    /// Adds a session, if there is room for it.
    pub(super) fn add(
        &self,
        id: &str,
        session: Session,
        limits: &Limits,
    ) -> Result<Arc<Session>, Refusal> {
        let session = Arc::new(session);
        let mut table = self.lock();
        let mut ended = Vec::new();
        if table.len() >= limits.http.sessions {
            ended = make_room(&mut table, limits);
        }
        let room = table.len() < limits.http.sessions;
        if room {
            table.insert(id.into(), Arc::clone(&session));
        }
        drop(table);
        for session in ended {
            session.end();
        }
        if room {
            return Ok(session);
        }
        let why = "there are as many sessions at work as there may be";
        Err(Refusal::new(StatusCode::SERVICE_UNAVAILABLE, why))
    }

    /// The session of an id, which is used now. One of somebody else is as good as none.
    pub(super) fn get(
        &self,
        id: &str,
        principal: Option<&Principal>,
        limits: &Limits,
    ) -> Option<Arc<Session>> {
        let mut table = self.lock();
        let session = table.get(id).filter(|one| one.belongs_to(principal))?;
        let session = Arc::clone(session);
        if is_over(&session, limits) {
            table.remove(id);
            drop(table);
            session.end();
            return None;
        }
        session.touch();
        Some(session)
    }

    /// Ends calls that their clients have left alone, until `enough` are ended or there are no more; returns how many.
    ///
    /// The sessions with the most of them come first: a client that polls has left a call too for the moment.
    pub(in crate::transport::http) fn end_left_calls(&self, enough: usize) -> usize {
        let mut left: Vec<_> = {
            let table = self.lock();
            let sessions = table
                .values()
                .map(|session| (session.left_calls(), session));
            let left = sessions.filter(|(calls, _)| *calls > 0);
            left.map(|(calls, session)| (calls, session.used(), Arc::clone(session)))
                .collect()
        };
        left.sort_unstable_by_key(|(calls, used, _)| (Reverse(*calls), *used));
        let mut ended = 0;
        for (_, _, session) in left {
            if ended >= enough {
                break;
            }
            ended += session.end_left_calls();
        }
        ended
    }

    /// Ends a session.
    pub(super) fn remove(&self, id: &str) {
        let session = self.lock().remove(id);
        if let Some(session) = session {
            session.end();
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Box<str>, Arc<Session>>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends a session when it is dropped.
pub(super) struct Leave {
    pub(super) sessions: Arc<Sessions>,
    pub(super) id: String,
}

impl Drop for Leave {
    fn drop(&mut self) {
        self.sessions.remove(&self.id);
    }
}

fn is_over(session: &Session, limits: &Limits) -> bool {
    let idle = session.used().elapsed() > limits.http.session_idle_timeout;
    session.has_ended() || (idle && !session.is_at_work())
}

/// Takes out the sessions that have been idle too long; if there are none, some that have been idle the longest. Several at
/// once, so that a flood of new ones does not look through all of them each time.
///
/// If hardly any is idle, those count too whose clients have left their calls alone: whoever begins calls and leaves could
/// keep all others out otherwise, while who stays needs a connection for each session.
fn make_room(table: &mut HashMap<Box<str>, Arc<Session>>, limits: &Limits) -> Vec<Arc<Session>> {
    let some = (limits.http.sessions / 16).max(1);
    let mut idle = those(table, |session| !session.is_at_work());
    if idle.len() <= some {
        idle = those(table, |session| !session.is_at_work() || session.is_left());
    }
    let some = some.min(idle.len());
    if some > 0 {
        idle.select_nth_unstable(some - 1);
    }
    let over = |used: &Instant| used.elapsed() > limits.http.session_idle_timeout;
    let (oldest, others) = idle.split_at(some);
    let others = others.iter().filter(|(used, _)| over(used));
    let ended = oldest.iter().chain(others);
    ended.filter_map(|(_, id)| table.remove(id)).collect()
}

/// When some sessions were used, and their ids.
fn those(
    table: &HashMap<Box<str>, Arc<Session>>,
    are: impl Fn(&Session) -> bool,
) -> Vec<(Instant, Box<str>)> {
    let found = table.iter().filter(|(_, session)| are(session));
    found
        .map(|(id, session)| (session.used(), id.clone()))
        .collect()
}
