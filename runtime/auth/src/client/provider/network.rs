//! Access to the servers that an MCP server names: requests, and discovery with its cache.

use std::net::IpAddr;
use std::sync::{Arc, PoisonError};

use super::server::Server;
use crate::fetch::Fetcher;
use crate::metadata::Discovery;

/// Access to servers that an MCP server names.
#[derive(Clone, Debug)]
pub(super) struct Network {
    /// The address of the MCP server, whose class may be contacted.
    peer: Option<IpAddr>,
    pub(super) fetcher: Fetcher,
    pub(super) discovery: Arc<Discovery>,
}

impl Server {
    /// Returns the access to servers that this one names.
    pub(super) fn network(&self) -> Network {
        let mut network = self.network.lock().unwrap_or_else(PoisonError::into_inner);
        let network = network.get_or_insert_with(|| self.open_network(None));
        network.clone()
    }

    /// Notes the address of the server, once it has answered.
    pub(super) fn note_peer(&self, peer: Option<IpAddr>) {
        let mut network = self.network.lock().unwrap_or_else(PoisonError::into_inner);
        let is_known = network.as_ref().is_some_and(|known| known.peer == peer);
        if peer.is_some() && !is_known {
            *network = Some(self.open_network(peer));
        }
    }

    fn open_network(&self, peer: Option<IpAddr>) -> Network {
        let policy = self.settings.fetch_policy.clone();
        let fetcher = Fetcher::new(policy.for_server(&self.url, peer));
        let discovery = Discovery::new(fetcher.clone(), self.settings.discovery_rules());
        Network {
            peer,
            fetcher,
            discovery: Arc::new(discovery),
        }
    }
}
