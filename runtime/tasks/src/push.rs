//! Notifications for the subscribers of tasks.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use treenail_runtime::internal::LogThrottle;
use treenail_runtime::internal::extension::{SubscribedTopics, publish};
use treenail_runtime::{Context, RpcError, Server, WeakServer};

use crate::engine::{Engine, Loaded, not_written, owner, store_failed};
use crate::record::{Form, Record, TaskKey, has_ended, view_text};
use crate::store::{StoreError, StoredTask, TaskId};

/// Member of the filter of `subscriptions/listen`.
pub(crate) const MEMBER: &str = "taskIds";

/// Method of the notifications.
const METHOD: &str = "notifications/tasks";

/// Maximum number of tasks of other processes that are read in one interval.
const READS: usize = 256;

/// Tasks with subscribers in this process.
#[derive(Debug)]
pub(crate) struct Watch {
    server: OnceLock<WeakServer>,
    most: usize,
    /// The version of each task that was published last.
    watched: Mutex<BTreeMap<TaskId, u64>>,
    /// The task that was read last.
    last: Mutex<Option<TaskId>>,
    /// Warnings about subscriptions beyond `most`, which a client can trigger at will.
    full: LogThrottle,
    /// Warnings about tasks that cannot be read, which are repeated with each interval.
    unreadable: LogThrottle,
}

impl Watch {
    pub(crate) fn new(most: usize) -> Self {
        Self {
            server: OnceLock::new(),
            most,
            watched: Mutex::default(),
            last: Mutex::default(),
            full: LogThrottle::default(),
            unreadable: LogThrottle::default(),
        }
    }

    /// Sets the server whose clients subscribe. The first one counts.
    pub(crate) fn serve(&self, server: &Server) {
        self.server.get_or_init(|| server.downgrade());
    }

    /// Publishes a version of a task, if it has subscribers and the version is newer than the last one, or the end of the task.
    pub(crate) fn publish(&self, key: &TaskKey, version: u64, record: &Record) {
        let change = (version, record.is_final());
        if !self.is_news(&key.id, change) {
            return;
        }
        let Some(server) = self.server.get().and_then(WeakServer::upgrade) else {
            return;
        };
        let state = record.state(key);
        let text = state.and_then(|state| view_text(Some(&server), &state, Form::Complete));
        let sent = text
            .map_err(not_written)
            .and_then(|text| self.send(&server, &key.id, change, &text));
        if let Err(error) = sent {
            tracing::error!(id = ?key.id, %error, "the change of a task could not be published");
        }
    }

    /// Sends a version, unless a newer one was sent while its text was written. An end is the last version in any case.
    fn send(
        &self,
        server: &Server,
        id: &TaskId,
        (version, is_final): (u64, bool),
        text: &str,
    ) -> Result<(), RpcError> {
        // Held until the end: versions are sent in their order.
        let mut watched = self.watched();
        let Some(last) = watched
            .get_mut(id)
            .filter(|last| is_final || **last < version)
        else {
            return Ok(());
        };
        *last = version;
        if is_final {
            watched.remove(id);
        }
        publish(server, (MEMBER, id.as_str()), METHOD, text)
    }

    /// Returns `true` if subscribers may lack a version: it is another than the last one, an older one too if the store has lost
    /// changes, or the end of the task.
    fn is_news(&self, id: &TaskId, (version, is_final): (u64, bool)) -> bool {
        let watched = self.watched();
        watched
            .get(id)
            .is_some_and(|last| is_final || *last != version)
    }

    /// Notes that a task whose version was `known` has `version`. If that is older, the store has lost changes, and this and the next
    /// versions are news, unless a newer one than `known` has been published since.
    pub(crate) fn go_back(&self, id: &TaskId, known: u64, version: u64) {
        if version >= known {
            return;
        }
        if let Some(last) = self.watched().get_mut(id).filter(|last| **last <= known) {
            *last = (*last).min(version.saturating_sub(1));
        }
    }

    /// Adds a task. Returns `false` if there are too many.
    fn add(&self, id: &TaskId) -> bool {
        let mut watched = self.watched();
        let fits = watched.len() < self.most || watched.contains_key(id);
        if fits {
            // A new subscriber gets the current version.
            watched.insert(id.clone(), 0);
        }
        fits
    }

    /// Removes the tasks without subscribers.
    fn prune(&self) {
        let Some(server) = self.server.get().and_then(WeakServer::upgrade) else {
            return;
        };
        // Locked first: the topics of a subscription exist before its tasks are added.
        let mut watched = self.watched();
        if !watched.is_empty() {
            let topics = SubscribedTopics::of(&server);
            watched.retain(|id, _| topics.contains((MEMBER, id.as_str())));
        }
    }

    /// Returns the next tasks to read, and their versions that were published last.
    fn next(&self) -> Vec<(TaskId, u64)> {
        let watched = self.watched();
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let after = last.take();
        let is_after = |id: &TaskId| after.as_ref().is_none_or(|after| id > after);
        let next: Vec<_> = watched
            .iter()
            .filter(|(id, _)| is_after(id))
            .take(READS)
            .map(|(id, version)| (id.clone(), *version))
            .collect();
        if next.len() == READS {
            *last = next.last().map(|(id, _)| id.clone());
        }
        next
    }

    /// Notes a task that is left out because it cannot be read. The error is that of a store that has none of the others either.
    fn note_unreadable(&self, id: &str, error: StoreError) -> Result<(), StoreError> {
        if matches!(error, StoreError::Unavailable(_)) {
            return Err(error);
        }
        if self.unreadable.is_due() {
            tracing::warn!(id, %error, "a subscribed task could not be read");
        }
        Ok(())
    }

    fn watched(&self) -> MutexGuard<'_, BTreeMap<TaskId, u64>> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the tasks that the caller may subscribe to. Unknown and foreign ids are left out (TASK-S-24), and tasks that
/// cannot be read.
pub(crate) async fn accept(
    engine: Arc<Engine>,
    context: Context,
    ids: Vec<String>,
) -> Result<Vec<String>, RpcError> {
    engine.start(context.server());
    let mut accepted = Vec::with_capacity(ids.len());
    for id in ids {
        let found = engine.find(&id, owner(&context)).await;
        match found.and_then(loaded) {
            Ok(Some(loaded)) if engine.watch.add(&loaded.key.id) => {
                // A newer version may have been sent to other subscribers since. That of a run in this process may not be
                // stored yet, and may never be.
                let now = engine.load(&id, owner(&context)).await.unwrap_or(loaded);
                engine.watch.publish(&now.key, now.version, &now.record);
                accepted.push(id);
            }
            Ok(Some(_)) => {
                if engine.watch.full.is_due() {
                    tracing::warn!("a task has no subscription: too many tasks are watched");
                }
            }
            Ok(None) => {}
            Err(error) => {
                let noted = engine.watch.note_unreadable(&id, error);
                noted.map_err(|error| store_failed(&error))?;
            }
        }
    }
    Ok(accepted)
}

fn loaded(stored: Option<StoredTask>) -> Result<Option<Loaded>, StoreError> {
    let loaded = stored.map(|stored| Loaded::read(&stored));
    loaded.transpose().map_err(|newer| newer.to_store_error())
}

impl Engine {
    /// Reads subscribed tasks that run in other processes, and publishes those that have changed.
    pub(crate) async fn read_watched(&self) {
        self.watch.prune();
        let change = |task: &StoredTask| (task.version, has_ended(&task.state));
        for (id, known) in self.watch.next() {
            if self.local(&id).is_some() {
                continue;
            }
            // Most have not changed, so their bodies are not read.
            let found = match self.state(&id).await {
                Ok(Some(task)) if !self.watch.is_news(&id, change(&task)) => continue,
                Ok(Some(_)) => self.get(&id).await,
                found => found,
            };
            match found.and_then(loaded) {
                Ok(Some(loaded)) => {
                    self.watch.go_back(&id, known, loaded.version);
                    self.watch
                        .publish(&loaded.key, loaded.version, &loaded.record);
                }
                Ok(None) => drop(self.watch.watched().remove(&id)),
                Err(error) => {
                    if let Err(error) = self.watch.note_unreadable(id.as_str(), error) {
                        tracing::warn!(%error, "subscribed tasks could not be read");
                        return;
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_older_version_is_not_sent_after_a_newer_one() {
        let server = Server::builder("x", "1").build().unwrap();
        let (watch, id) = (Watch::new(1), TaskId::random().unwrap());
        assert!(watch.add(&id));
        for version in [3, 2] {
            watch.send(&server, &id, (version, false), "{}").unwrap();
            assert_eq!(watch.watched().get(&id), Some(&3));
        }
        // The end is the last version in any case.
        watch.send(&server, &id, (1, true), "{}").unwrap();
        assert_eq!(watch.watched().get(&id), None);
    }
}
