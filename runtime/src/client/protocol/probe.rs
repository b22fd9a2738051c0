//! Outcome of probing a server for its revisions.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use treenail_schema::Revision;

use crate::client::protocol::discovery::Discovery;
use crate::client::protocol::handshake::Handshake;
use crate::client::protocol::server_info::PeerInfo;
use crate::client::timeout::run_until;
use crate::client::{ClientError, SessionFuture};
use crate::deadline;

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
    /// Waits for the response that settles the revision: that of the legacy handshake, or the answer of a modern server to the
    /// open probe. A modern server may refuse the handshake first, so a refusal counts only without such an answer within
    /// `limit`.
    pub(super) async fn settle(
        self,
        handshake: impl Future<Output = Result<PeerInfo, ClientError>>,
        limit: Duration,
    ) -> Result<PeerInfo, ClientError> {
        let end = deadline::after(limit);
        let (mut modern, mut handshake) = (pin!(self.modern_peer()), pin!(handshake));
        let mut is_open = true;
        let settled = poll_fn(|context| {
            if is_open {
                match modern.as_mut().poll(context) {
                    Poll::Ready(Some(peer)) => return Poll::Ready(peer),
                    Poll::Ready(None) => is_open = false,
                    Poll::Pending => {}
                }
            }
            handshake.as_mut().poll(context)
        })
        .await;
        match settled {
            Err(error) if is_open && is_refusal(&error) => {
                let late = run_until(end, modern).await.flatten();
                late.unwrap_or(Err(error))
            }
            settled => settled,
        }
    }

    /// Waits for the answer of a modern server. Returns `None` after any other answer.
    async fn modern_peer(self) -> Option<Result<PeerInfo, ClientError>> {
        let text = self.answer.await.ok()?;
        if let Err(error) = self.handshake.check_size(&text) {
            return Some(Err(error));
        }
        match Discovery::parse(&text, self.revision, self.meta) {
            Ok(Discovery::Modern(peer)) => Some(Ok(*peer)),
            // A malformed result is still that of a server which knows `server/discover`.
            Err(error @ ClientError::Protocol(_)) => Some(Err(error)),
            _ => None,
        }
    }
}

/// Returns true if the server has refused the legacy handshake.
fn is_refusal(error: &ClientError) -> bool {
    match error {
        ClientError::Refused(_) => true,
        ClientError::Http { status, .. } => (400..500).contains(status),
        _ => false,
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
        ClientError::Protocol(_) | ClientError::TooLong(_) => true,
        _ => false,
    }
}
