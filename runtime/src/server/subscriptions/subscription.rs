//! One subscription: what it wants to hear of, and what it has not been told yet.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use treenail_schema::RequestId;

use crate::server::subscriptions::message::Told;
use crate::server::subscriptions::{Event, Kinds};

/// What a peer asked for in one go; a peer of the legacy era has one for all that it subscribes to.
#[derive(Debug)]
pub(crate) struct Subscription {
    /// The request that began it. A peer of the legacy era needs none to tell its notifications.
    id: Option<ListenId>,
    kinds: Kinds,
    /// The URIs, and whether an update of each waits to be told.
    uris: HashMap<Arc<str>, bool>,
    stage: Stage,
    waiting_kinds: Kinds,
    /// The URIs whose updates wait to be told, in order.
    waiting_uris: VecDeque<Arc<str>>,
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

    /// Whether `text` is the same id, however its characters are escaped.
    fn is(&self, text: &str) -> bool {
        *self.text == *text || (self.read.is_some() && self.read == serde_json::from_str(text).ok())
    }
}

/// How far a subscription is.
#[derive(Debug, PartialEq, Eq)]
enum Stage {
    /// The acknowledgement, with this object, comes before all else.
    Begun(Box<str>),
    Open,
    /// The server has ended it with a result, but has not yet told that it is cancelled.
    Answered,
    Over,
}

impl Subscription {
    /// One of the modern era that begins with an acknowledgement of `honoured`.
    pub(crate) fn listen(
        id: ListenId,
        kinds: Kinds,
        uris: impl IntoIterator<Item = String>,
        honoured: String,
    ) -> Self {
        Self {
            id: Some(id),
            kinds,
            uris: uris.into_iter().map(|uri| (uri.into(), false)).collect(),
            stage: Stage::Begun(honoured.into()),
            waiting_kinds: Kinds::default(),
            waiting_uris: VecDeque::new(),
        }
    }

    /// All that a peer of the legacy era wants to hear of.
    pub(crate) fn legacy(kinds: Kinds) -> Self {
        Self {
            id: None,
            kinds,
            uris: HashMap::new(),
            stage: Stage::Open,
            waiting_kinds: Kinds::default(),
            waiting_uris: VecDeque::new(),
        }
    }

    pub(crate) fn id(&self) -> Option<&ListenId> {
        self.id.as_ref()
    }

    /// Whether it is the one that a request with the id `text` began.
    pub(crate) fn is(&self, text: &str) -> bool {
        self.id.as_ref().is_some_and(|id| id.is(text))
    }

    /// How many URIs it has.
    pub(crate) fn len(&self) -> usize {
        self.uris.len()
    }

    pub(crate) fn has(&self, uri: &str) -> bool {
        self.uris.contains_key(uri)
    }

    pub(crate) fn add(&mut self, uri: &str) {
        self.uris.entry(uri.into()).or_default();
    }

    pub(crate) fn remove(&mut self, uri: &str) {
        if self.uris.remove(uri) == Some(true) {
            self.waiting_uris.retain(|waiting| **waiting != *uri);
        }
    }

    /// Marks what `event` says, if it is wanted; whether there is something new to tell.
    pub(crate) fn mark(&mut self, event: &Event) -> bool {
        match event {
            Event::ListChanged(kind) => {
                let new = self.kinds.contains(*kind) && !self.waiting_kinds.contains(*kind);
                if new {
                    self.waiting_kinds = self.waiting_kinds.with(*kind);
                }
                new
            }
            Event::ResourceUpdated(uri) => {
                let Some((uri, false)) = self.uris.get_key_value(&**uri) else {
                    return false;
                };
                let uri = Arc::clone(uri);
                self.waiting_uris.push_back(Arc::clone(&uri));
                self.uris.insert(uri, true);
                true
            }
            Event::Everything => self.mark_all(),
        }
    }

    /// Marks all that is wanted.
    fn mark_all(&mut self) -> bool {
        let mut new = self.waiting_kinds != self.kinds;
        self.waiting_kinds = self.kinds;
        for (uri, waiting) in &mut self.uris {
            if !std::mem::replace(waiting, true) {
                self.waiting_uris.push_back(Arc::clone(uri));
                new = true;
            }
        }
        new
    }

    /// Whether its result has been sent.
    pub(crate) fn is_answered(&self) -> bool {
        matches!(self.stage, Stage::Answered | Stage::Over)
    }

    /// Whether nothing more will come of it.
    pub(crate) fn is_idle(&self) -> bool {
        let wants_nothing = self.kinds == Kinds::default() && self.uris.is_empty();
        self.stage == Stage::Over || (self.id.is_none() && wants_nothing)
    }

    /// The next thing to tell its peer. If the server is `closing`, that ends with the result.
    pub(crate) fn next(&mut self, closing: bool) -> Option<Told> {
        match std::mem::replace(&mut self.stage, Stage::Open) {
            Stage::Begun(honoured) => return Some(Told::Acknowledged(honoured)),
            Stage::Open => {}
            Stage::Answered => {
                self.stage = Stage::Over;
                return Some(Told::Cancelled);
            }
            Stage::Over => {
                self.stage = Stage::Over;
                return None;
            }
        }
        if let Some(kind) = self.waiting_kinds.take() {
            return Some(Told::ListChanged(kind));
        }
        if let Some(uri) = self.waiting_uris.pop_front() {
            self.uris.insert(Arc::clone(&uri), false);
            return Some(Told::Updated(uri));
        }
        if closing && self.id.is_some() {
            self.stage = Stage::Answered;
            return Some(Told::Ended);
        }
        None
    }
}
