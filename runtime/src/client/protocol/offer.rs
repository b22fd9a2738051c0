//! Choice of a revision from those that a server names.

use serde::Deserialize;
use treenail_schema::{DiscoverResult, Revision};

use crate::client::ClientError;
use crate::client::protocol::facts::PeerInfo;
use crate::wire::RpcError;

/// Newest revision that both sides speak, by its era.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Offer {
    Modern(Revision),
    Legacy(Revision),
}

impl Offer {
    /// Chooses from the revisions that an error -32022 names.
    ///
    /// # Errors
    ///
    /// If it names none, or none that is spoken here.
    pub(super) fn in_error(error: &RpcError) -> Result<Self, ClientError> {
        #[derive(Deserialize)]
        struct Data {
            supported: Vec<String>,
        }

        let data = error.data.as_ref().map(Data::deserialize);
        let Some(Ok(data)) = data else {
            return Err(ClientError::Refused(error.clone()));
        };
        Self::among(&data.supported)
    }

    fn among(supported: &[String]) -> Result<Self, ClientError> {
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
                let supported = crate::wire::quoted(&supported.join(", "));
                Err(ClientError::unsupported(format!(
                    "the server speaks {supported}, and none of these is spoken here"
                )))
            }
        }
    }
}

/// The result of a probe.
#[derive(Debug)]
pub(super) enum Discovered {
    Modern(Box<PeerInfo>),
    /// The revision to propose in the handshake, if the server names one.
    Legacy(Option<Revision>),
}

impl Discovered {
    /// Reads the answer to a probe that was sent in `revision`, with `meta`.
    pub(super) fn read(text: &str, revision: Revision, meta: String) -> Result<Self, ClientError> {
        // Servers of the legacy era answer all kinds of things to a request that they do not know.
        let Ok(result) = serde_json::from_str::<DiscoverResult>(text) else {
            return Ok(Self::Legacy(None));
        };
        let names = |version: &String| version == revision.as_str();
        if result.supported_versions.iter().any(names) {
            let facts = PeerInfo::discovered(revision, result, meta);
            return Ok(Self::Modern(Box::new(facts)));
        }
        match Offer::among(&result.supported_versions)? {
            Offer::Legacy(legacy) => Ok(Self::Legacy(Some(legacy))),
            Offer::Modern(modern) => Err(ClientError::unsupported(format!(
                "the server speaks revision {modern} and not {revision}"
            ))),
        }
    }
}
