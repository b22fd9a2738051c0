//! What an event is while it travels between replicas.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::limits::Limits;
use crate::server::subscriptions::{Event, Kind};

/// The form of messages. A replica does not understand those of another one.
const VERSION: u32 = 1;

/// Who sends messages.
#[derive(Debug)]
pub(super) struct Sender {
    /// The name of the server.
    server: String,
    /// One of the replicas that have this name.
    replica: String,
    /// The bytes of the longest message that another replica can have sent.
    longest: usize,
}

#[derive(Debug, Serialize, Deserialize)]
struct Message<'a> {
    version: u32,
    #[serde(borrow)]
    server: Cow<'a, str>,
    #[serde(borrow)]
    replica: Cow<'a, str>,
    #[serde(borrow)]
    event: Cow<'a, str>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    uri: Option<Cow<'a, str>>,
}

const EVERYTHING: &str = "everything";
const UPDATED: &str = "resources/updated";

impl Kind {
    fn as_str(self) -> &'static str {
        match self {
            Self::Tools => "tools/list_changed",
            Self::Prompts => "prompts/list_changed",
            Self::Resources => "resources/list_changed",
        }
    }
}

impl Sender {
    pub(super) fn new(server: &str, replica: String, limits: &Limits) -> Self {
        // JSON takes up to six bytes for one, and this much for all but the name and the URI.
        let longest = (server.len() + limits.subscriptions.bytes).saturating_mul(6) + 256;
        Self {
            server: server.to_owned(),
            replica,
            longest,
        }
    }

    /// Bytes of the longest message that another replica can have sent.
    #[cfg(feature = "redis")]
    pub(super) fn longest(&self) -> usize {
        self.longest
    }

    pub(super) fn write(&self, event: &Event) -> Vec<u8> {
        let (event, uri) = match event {
            Event::ListChanged(kind) => (kind.as_str(), None),
            Event::ResourceUpdated(uri) => (UPDATED, Some(Cow::Borrowed(&**uri))),
            Event::Resync => (EVERYTHING, None),
        };
        let message = Message {
            version: VERSION,
            server: (&*self.server).into(),
            replica: (&*self.replica).into(),
            event: event.into(),
            uri,
        };
        serde_json::to_vec(&message).expect("texts and a number can be written")
    }

    /// The event of another replica of the same server, or `None` if the message is of somebody else.
    pub(super) fn read(&self, message: &[u8]) -> Result<Option<Event>, &'static str> {
        if message.len() > self.longest {
            return Err("too long");
        }
        let message: Message<'_> =
            serde_json::from_slice(message).map_err(|_| "not a message of an event")?;
        if message.version != VERSION {
            return Err("of another version");
        }
        if message.server != self.server || message.replica == self.replica {
            return Ok(None);
        }
        match (&*message.event, message.uri) {
            (EVERYTHING, _) => Ok(Some(Event::Resync)),
            (UPDATED, Some(uri)) => Ok(Some(Event::ResourceUpdated(uri.into()))),
            (event, _) => {
                let kind = Kind::ALL.into_iter().find(|kind| kind.as_str() == event);
                kind.map(|kind| Some(Event::ListChanged(kind)))
                    .ok_or("of an unknown event")
            }
        }
    }
}
