//! Encoding of events sent between replicas.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::limits::Limits;
use crate::server::subscriptions::{Event, Kind};

/// Version of the message format. A replica rejects messages of other versions.
const VERSION: u32 = 1;

/// Encodes and decodes the messages of one replica.
#[derive(Debug)]
pub(super) struct MessageCodec {
    /// Name of the server.
    server: String,
    /// Id of this replica.
    replica: String,
    /// Length of the longest message that another replica can send.
    max_message_bytes: usize,
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

impl MessageCodec {
    pub(super) fn new(server: &str, replica: String, limits: &Limits) -> Self {
        // JSON escapes one byte with up to six. The remaining members take less than 256 bytes.
        let texts = server.len().saturating_add(limits.subscriptions.bytes);
        let max_message_bytes = texts.saturating_mul(6).saturating_add(256);
        Self {
            server: server.to_owned(),
            replica,
            max_message_bytes,
        }
    }

    /// Returns the length in bytes of the longest message that another replica can send.
    pub(super) fn max_message_bytes(&self) -> usize {
        self.max_message_bytes
    }

    #[inline]
    pub(super) fn encode(&self, event: &Event) -> Vec<u8> {
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
        serde_json::to_vec(&message).expect("strings and a number can be serialized")
    }

    /// Returns the event sent by another replica of this server. `None` if this replica or another server sent the message.
    #[inline]
    pub(super) fn decode(&self, message: &[u8]) -> Result<Option<Event>, &'static str> {
        if message.len() > self.max_message_bytes {
            return Err("too long");
        }
        // From text, as all messages are read: each kind of input doubles the code of the reader.
        let message = std::str::from_utf8(message).ok();
        let message: Message<'_> = message
            .and_then(|message| serde_json::from_str(message).ok())
            .ok_or("not an event message")?;
        if message.version != VERSION {
            return Err("unsupported version");
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
                    .ok_or("unknown event")
            }
        }
    }
}
