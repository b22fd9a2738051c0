//! What a client of the legacy era has to remember between its requests.

use http::{HeaderMap, HeaderValue, Uri};
use tokio::task::AbortHandle;
use treenail_schema::Revision;

use crate::client::ClientError;
use crate::client::http::headers::{SESSION, VERSION, version};

/// What carries the messages of the legacy era.
#[derive(Clone, Debug, Default)]
pub(super) enum Carrier {
    /// Streamable HTTP.
    #[default]
    Streamable,
    /// HTTP+SSE of 2024-11-05: messages are posted here, and answers come on one stream.
    Events(Uri),
    /// That stream has ended, and there is no other one.
    Lost,
    /// The server does not know the session any more.
    Expired,
}

/// What one handshake has led to.
#[derive(Clone, Debug, Default)]
pub(super) struct Standing {
    /// Counts handshakes, so that what belongs to an earlier one does not count for a later one.
    pub(super) handshake: u64,
    pub(super) session: Option<HeaderValue>,
    pub(super) revision: Option<Revision>,
    pub(super) carrier: Carrier,
}

impl Standing {
    /// Where messages go.
    pub(super) fn target<'a>(&'a self, url: &'a Uri) -> Result<&'a Uri, ClientError> {
        match &self.carrier {
            Carrier::Streamable => Ok(url),
            Carrier::Events(endpoint) => Ok(endpoint),
            Carrier::Lost => Err(ClientError::closed("the stream of the server has ended")),
            Carrier::Expired => Err(ClientError::SessionExpired),
        }
    }

    /// Whether it is the transport of 2024-11-05.
    pub(super) fn is_older(&self) -> bool {
        matches!(self.carrier, Carrier::Events(_))
    }

    /// The headers that all requests have.
    pub(super) fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        if let Some(revision) = self.revision {
            headers.insert(VERSION, version(revision));
        }
        if let Some(session) = &self.session {
            headers.insert(SESSION, session.clone());
        }
        headers
    }
}

/// The newest handshake, and the task that reads what the server sends of its own accord.
#[derive(Debug, Default)]
pub(super) struct Legacy {
    pub(super) standing: Standing,
    reader: Option<AbortHandle>,
}

impl Legacy {
    /// Forgets all, since there is a handshake to come.
    pub(super) fn begin_anew(&mut self) {
        self.stop_reading();
        self.standing = Standing {
            handshake: self.standing.handshake + 1,
            ..Standing::default()
        };
    }

    /// Goes on by another carrier, or by none; the session is over.
    pub(super) fn carry_by(&mut self, carrier: Carrier) {
        self.standing.session = None;
        self.standing.carrier = carrier;
    }

    /// Remembers the task that reads, in place of an earlier one.
    pub(super) fn read_by(&mut self, reader: AbortHandle) {
        self.stop_reading();
        self.reader = Some(reader);
    }

    pub(super) fn stop_reading(&mut self) {
        if let Some(reader) = self.reader.take() {
            reader.abort();
        }
    }
}
