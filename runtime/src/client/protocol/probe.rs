//! Outcome of probing a server for its revisions.

use std::future::pending;

use treenail_schema::Revision;

use crate::client::protocol::discovery::Discovery;
use crate::client::protocol::handshake::Handshake;
use crate::client::protocol::server_info::PeerInfo;
use crate::client::{ClientError, SessionFuture};

/// Outcome of probing a server for its revisions.
pub(super) enum Found<'a> {
    Modern(Box<PeerInfo>),
    Legacy {
        /// The revision to propose, if the server has listed one.
        revision: Option<Revision>,
        /// The failure that suggests a legacy server, if it can have other reasons too.
        cause: Option<ClientError>,
    },
    /// No answer within the probe timeout.
    Silent(Probe<'a>),
}

impl From<Discovery> for Found<'_> {
    fn from(discovery: Discovery) -> Self {
        match discovery {
            Discovery::Modern(peer) => Self::Modern(peer),
            Discovery::Legacy(revision) => Self::Legacy {
                revision,
                cause: None,
            },
        }
    }
}

/// A `server/discover` request without an answer yet.
pub(super) struct Probe<'a> {
    pub(super) handshake: Handshake<'a>,
    pub(super) answer: SessionFuture<'a, String>,
    pub(super) revision: Revision,
    pub(super) meta: String,
}

impl Probe<'_> {
    /// Waits for the answer of a modern server. Never completes after any other answer.
    pub(super) async fn modern_peer(self) -> Result<PeerInfo, ClientError> {
        if let Ok(text) = self.answer.await {
            self.handshake.check_size(&text)?;
            let discovery = Discovery::parse(&text, self.revision, self.meta);
            if let Ok(Discovery::Modern(peer)) = discovery {
                return Ok(*peer);
            }
        }
        pending().await
    }
}

/// Returns true if a failed probe suggests a legacy server, although it can have other reasons too.
///
/// A server that denies access, or that is broken, reveals nothing about its revision.
pub(super) fn suggests_legacy(error: &ClientError) -> bool {
    match error {
        ClientError::Http { status, .. } => {
            (400..500).contains(status) && !matches!(status, 401 | 403 | 429)
        }
        ClientError::Protocol(_) => true,
        _ => false,
    }
}
