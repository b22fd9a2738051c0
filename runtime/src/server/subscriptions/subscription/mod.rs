//! One subscription: its lists, URIs and topics, and its next message.

mod marks;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use serde_json::json;
use treenail_schema::{JsonObject, RequestId};

use crate::extension::{Accepted, Publication, topic_key};
use crate::server::subscriptions::Kinds;
use crate::server::subscriptions::history::History;
use crate::server::subscriptions::message::SubscriptionMessage;

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

    /// Returns `true` if a request started it whose result has not been sent.
    pub(crate) fn is_unanswered(&self) -> bool {
        self.id.is_some() && !matches!(self.stage, Stage::Answered | Stage::Finished)
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
