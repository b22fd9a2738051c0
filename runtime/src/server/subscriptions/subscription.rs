//! One subscription: its lists and URIs, and the changes that its peer has not received yet.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use serde_json::json;
use treenail_schema::{JsonObject, RequestId};

use crate::extension::{Accepted, Publication, topic_key};
use crate::server::subscriptions::history::{Decision, History, OpaqueSnapshot, TooLong};
use crate::server::subscriptions::message::SubscriptionMessage;
use crate::server::subscriptions::{Event, Kind, Kinds};

/// Subscription of a peer. A peer of the legacy era has a single one for all its lists and resources.
#[derive(Debug)]
pub(crate) struct Subscription {
    /// The id of its request; `None` in the legacy era.
    id: Option<ListenId>,
    kinds: Kinds,
    /// The URIs in order, each with `true` while an update of it is pending.
    uris: Vec<(Arc<str>, bool)>,
    stage: Stage,
    pending_kinds: Kinds,
    history: History,
    /// The URIs with pending updates, in order.
    pending_uris: VecDeque<Arc<str>>,
    /// The topics of extensions, each with its newest message while that is pending.
    topics: HashMap<Arc<str>, Option<Arc<Publication>>>,
    /// The topics with pending messages, in order.
    pending_topics: VecDeque<Arc<str>>,
}

/// The id of a request for a subscription, as the peer wrote it.
#[derive(Clone, Debug)]
pub(crate) struct ListenId {
    pub(crate) text: Box<str>,
    /// Missing for a number beyond 64 bits.
    read: Option<RequestId>,
}

impl ListenId {
    pub(crate) fn new(text: &str) -> Self {
        Self {
            text: text.into(),
            read: serde_json::from_str(text).ok(),
        }
    }

    /// Returns `true` if `text` is the same id, perhaps with other escapes.
    pub(crate) fn is(&self, text: &str) -> bool {
        *self.text == *text || (self.read.is_some() && self.read == serde_json::from_str(text).ok())
    }
}

/// Stage of a subscription.
#[derive(Debug, PartialEq, Eq)]
enum Stage {
    /// The acknowledgement, with this object and the accepted topics, has to wait for them.
    Accepting(Box<str>),
    /// The acknowledgement, with this object, is the first message.
    Started(Box<str>),
    Open,
    /// The server has sent its result, but not the cancellation yet.
    Answered,
    Finished,
}

impl Subscription {
    /// Makes a subscription of the modern era, which starts with the acknowledgement of the `accepted` notifications.
    pub(crate) fn listen(
        id: ListenId,
        kinds: Kinds,
        uris: impl IntoIterator<Item = String>,
        accepted: String,
    ) -> Self {
        let mut uris: Vec<String> = uris.into_iter().collect();
        uris.sort();
        uris.dedup();
        Self {
            id: Some(id),
            kinds,
            uris: uris.into_iter().map(|uri| (uri.into(), false)).collect(),
            stage: Stage::Started(accepted.into()),
            pending_kinds: Kinds::default(),
            history: History::default(),
            pending_uris: VecDeque::new(),
            topics: HashMap::new(),
            pending_topics: VecDeque::new(),
        }
    }

    /// Adds topics. The subscription starts when some of them have been [accepted](Self::accept).
    pub(crate) fn with_topics(mut self, topics: Vec<Arc<str>>) -> Self {
        self.topics = topics.into_iter().map(|topic| (topic, None)).collect();
        if let Stage::Started(accepted) = self.stage {
            self.stage = Stage::Accepting(accepted);
        }
        self
    }

    /// Returns `true` while its topics have not been accepted.
    pub(crate) fn is_accepting(&self) -> bool {
        matches!(self.stage, Stage::Accepting(_))
    }

    /// Starts the subscription with the accepted topics, and drops all others.
    pub(crate) fn accept(&mut self, members: Accepted) {
        let Stage::Accepting(accepted) = &self.stage else {
            return;
        };
        let mut acknowledged: JsonObject = serde_json::from_str(accepted).unwrap_or_default();
        let mut topics = HashMap::new();
        for (member, mut accepted) in members {
            accepted.retain(|topic| {
                let wanted = self.topics.remove_entry(&*topic_key(&member, topic));
                let is_wanted = wanted.is_some();
                topics.extend(wanted);
                is_wanted
            });
            acknowledged.insert(member.into(), accepted.into());
        }
        self.pending_topics
            .retain(|topic| topics.contains_key(topic));
        self.topics = topics;
        self.stage = Stage::Started(json!(acknowledged).to_string().into());
    }

    /// Marks a message, if the subscription includes its topic. Returns `true` if that is a new mark.
    pub(crate) fn publish(&mut self, publication: &Arc<Publication>) -> bool {
        let Some((topic, _)) = self.topics.get_key_value(&*publication.key) else {
            return false;
        };
        let topic = Arc::clone(topic);
        let newest = Some(Arc::clone(publication));
        let is_new = matches!(self.topics.insert(Arc::clone(&topic), newest), Some(None));
        if is_new {
            self.pending_topics.push_back(topic);
        }
        is_new && !self.is_accepting()
    }

    /// Makes the subscription of a peer of the legacy era.
    pub(crate) fn legacy(kinds: Kinds) -> Self {
        Self {
            id: None,
            kinds,
            uris: Vec::new(),
            stage: Stage::Open,
            pending_kinds: Kinds::default(),
            history: History::default(),
            pending_uris: VecDeque::new(),
            topics: HashMap::new(),
            pending_topics: VecDeque::new(),
        }
    }

    pub(crate) fn id(&self) -> Option<&ListenId> {
        self.id.as_ref()
    }

    /// Returns `true` if the request with the id `text` started it.
    pub(crate) fn is(&self, text: &str) -> bool {
        self.id.as_ref().is_some_and(|id| id.is(text))
    }

    /// Returns the number of its URIs and topics.
    pub(crate) fn len(&self) -> usize {
        self.uris.len() + self.topics.len()
    }

    /// Returns its URIs.
    pub(crate) fn uris(&self) -> impl Iterator<Item = &Arc<str>> {
        self.uris.iter().map(|(uri, _)| uri)
    }

    /// Returns the keys of its topics.
    pub(crate) fn topics(&self) -> impl Iterator<Item = &Arc<str>> {
        self.topics.keys()
    }

    fn position(&self, uri: &str) -> Result<usize, usize> {
        self.uris.binary_search_by(|(one, _)| (**one).cmp(uri))
    }

    pub(crate) fn has(&self, uri: &str) -> bool {
        self.position(uri).is_ok()
    }

    pub(crate) fn add(&mut self, uri: &str) {
        if let Err(index) = self.position(uri) {
            self.uris.insert(index, (uri.into(), false));
        }
    }

    pub(crate) fn remove(&mut self, uri: &str) {
        if let Ok(index) = self.position(uri) {
            if self.uris.remove(index).1 {
                self.pending_uris.retain(|pending| **pending != *uri);
            }
        }
    }

    /// Marks the change of `event`, if the subscription includes it. Returns `true` if that is a new mark.
    pub(crate) fn mark(&mut self, event: &Event) -> bool {
        match event {
            Event::ListChanged(kind) => {
                let new = self.kinds.contains(*kind) && !self.pending_kinds.contains(*kind);
                if new {
                    self.pending_kinds = self.pending_kinds.with(*kind);
                }
                new
            }
            Event::ResourceUpdated(uri) => {
                let Ok(index) = self.position(uri) else {
                    return false;
                };
                let (uri, pending) = &mut self.uris[index];
                let new = !std::mem::replace(pending, true);
                if new {
                    self.pending_uris.push_back(Arc::clone(uri));
                }
                new
            }
            Event::Resync => self.mark_all(),
        }
    }

    /// Sets the snapshot from which on edits are marked.
    pub(super) fn since(&mut self, snapshot: &OpaqueSnapshot) {
        self.history.restart(snapshot, &mut Vec::new());
    }

    /// Marks an edited list, which may look the same as before to the caller of a `is_filtered` server. Returns `true` if that is
    /// a new mark. Snapshots that are not needed any more go to `removed`.
    pub(super) fn edited(
        &mut self,
        kind: Kind,
        snapshot: &OpaqueSnapshot,
        is_filtered: bool,
        removed: &mut Vec<OpaqueSnapshot>,
    ) -> bool {
        if !self.kinds.contains(kind) {
            return false;
        }
        let noted = if is_filtered {
            self.history.suspect(snapshot, removed)
        } else {
            let noted = self.history.note(snapshot, removed);
            noted.map(|()| self.mark(&kind.into()))
        };
        noted.unwrap_or_else(|TooLong| {
            let new = self.pending_kinds != self.kinds;
            self.pending_kinds = self.kinds;
            new
        })
    }

    /// Adds the snapshots to compare to `all`, for [`Subscription::settle`].
    pub(super) fn start_review(&mut self, all: &mut Vec<OpaqueSnapshot>) {
        self.history.start_review(all);
    }

    /// Marks the lists that have changed for the caller.
    pub(super) fn settle(&mut self, decision: &Decision) {
        let changed = self.history.settle(decision).intersection(self.kinds);
        self.pending_kinds = self.pending_kinds.union(changed);
    }

    /// Marks all its lists and URIs.
    fn mark_all(&mut self) -> bool {
        let mut new = self.pending_kinds != self.kinds;
        self.pending_kinds = self.kinds;
        for (uri, pending) in &mut self.uris {
            if !std::mem::replace(pending, true) {
                self.pending_uris.push_back(Arc::clone(uri));
                new = true;
            }
        }
        new
    }

    /// Returns `true` if its result has been sent.
    pub(crate) fn is_answered(&self) -> bool {
        matches!(self.stage, Stage::Answered | Stage::Finished)
    }

    /// Returns `true` if it has nothing more to send.
    pub(crate) fn is_idle(&self) -> bool {
        let is_empty = self.kinds == Kinds::default() && self.uris.is_empty();
        self.stage == Stage::Finished || (self.id.is_none() && is_empty)
    }

    /// Returns the next message to its peer. If the server is `closing`, the result is last.
    pub(crate) fn next(&mut self, closing: bool) -> Option<SubscriptionMessage> {
        match std::mem::replace(&mut self.stage, Stage::Open) {
            Stage::Started(accepted) => return Some(SubscriptionMessage::Acknowledged(accepted)),
            Stage::Accepting(accepted) if !closing => {
                self.stage = Stage::Accepting(accepted);
                return None;
            }
            // Without an acknowledgement, there are no notifications.
            Stage::Accepting(_) => {
                self.stage = Stage::Answered;
                return Some(SubscriptionMessage::Ended);
            }
            Stage::Open => {}
            Stage::Answered => {
                self.stage = Stage::Finished;
                return Some(SubscriptionMessage::Cancelled);
            }
            Stage::Finished => {
                self.stage = Stage::Finished;
                return None;
            }
        }
        if let Some(kind) = self.pending_kinds.take() {
            return Some(SubscriptionMessage::ListChanged(kind));
        }
        if let Some(uri) = self.pending_uris.pop_front() {
            if let Ok(index) = self.position(&uri) {
                self.uris[index].1 = false;
            }
            return Some(SubscriptionMessage::Updated(uri));
        }
        if let Some(topic) = self.pending_topics.pop_front() {
            let newest = self.topics.get_mut(&topic).and_then(Option::take);
            return newest.map(SubscriptionMessage::Published);
        }
        if closing && self.id.is_some() {
            self.stage = Stage::Answered;
            return Some(SubscriptionMessage::Ended);
        }
        None
    }
}
