//! Choice of a revision from those that a server lists.

use serde::Deserialize;
use serde::de::IgnoredAny;
use treenail_schema::{DiscoverResult, ResultType, Revision};

use crate::client::ClientError;
use crate::client::protocol::result::unknown_type;
use crate::client::protocol::server_info::PeerInfo;
use crate::wire::{RpcError, quoted, read_json};

/// Newest revision that both sides support, by era.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CommonRevision {
    Modern(Revision),
    Legacy(Revision),
}

impl CommonRevision {
    /// Chooses from the revisions that an error -32022 lists.
    ///
    /// # Errors
    ///
    /// If it lists none, or none that the client supports.
    pub(super) fn from_error(error: &RpcError) -> Result<Self, ClientError> {
        #[derive(Deserialize)]
        struct Data {
            supported: Vec<String>,
        }

        let data = error.data.as_ref().map(Data::deserialize);
        let Some(Ok(data)) = data else {
            return Err(ClientError::Refused(error.clone()));
        };
        Self::choose(&data.supported)
    }

    fn choose(supported: &[String]) -> Result<Self, ClientError> {
        let newest = |modern: bool| {
            let known = supported.iter().filter_map(|it| it.parse().ok());
            known
                .filter(|revision: &Revision| revision.is_modern() == modern)
                .max()
        };
        match (newest(true), newest(false)) {
            (Some(modern), _) => Ok(Self::Modern(modern)),
            (None, Some(legacy)) => Ok(Self::Legacy(legacy)),
            (None, None) => {
                let supported = quoted(&supported.join(", "));
                Err(ClientError::unsupported(format!(
                    "the server supports {supported}, none of which this client supports"
                )))
            }
        }
    }
}

/// Result of `server/discover`.
#[derive(Debug)]
pub(super) enum Discovery {
    Modern(Box<PeerInfo>),
    /// The revision to propose in the handshake, if the server lists one.
    Legacy(Option<Revision>),
}

impl Discovery {
    /// Parses the answer to a request that was sent in `revision`, with `meta`.
    pub(super) fn parse(text: &str, revision: Revision, meta: String) -> Result<Self, ClientError> {
        let result = match read_json::<DiscoverResult>(text) {
            Ok(result) => result,
            Err(error) if lists_revisions(text) => {
                return Err(ClientError::protocol(format!(
                    "its result of `server/discover` is malformed: {error}"
                )));
            }
            // Some legacy servers answer an unknown method with an arbitrary result.
            Err(_) => return Ok(Self::Legacy(None)),
        };
        if let Some(other) = result
            .result_type
            .as_ref()
            .filter(|it| **it != ResultType::Complete)
        {
            return Err(unknown_type(other.as_str()));
        }
        let is_same = |version: &String| version == revision.as_str();
        if result.supported_versions.iter().any(is_same) {
            let peer = PeerInfo::discovered(revision, result, meta);
            return Ok(Self::Modern(Box::new(peer)));
        }
        match CommonRevision::choose(&result.supported_versions)? {
            CommonRevision::Legacy(legacy) => Ok(Self::Legacy(Some(legacy))),
            CommonRevision::Modern(modern) => Err(ClientError::unsupported(format!(
                "the server supports revision {modern} but not {revision}"
            ))),
        }
    }
}

/// Returns true if a malformed result is that of a server which knows `server/discover`.
fn lists_revisions(text: &str) -> bool {
    #[derive(Deserialize)]
    struct Listed {
        #[serde(rename = "supportedVersions")]
        _versions: IgnoredAny,
    }

    serde_json::from_str::<Listed>(text).is_ok()
}
