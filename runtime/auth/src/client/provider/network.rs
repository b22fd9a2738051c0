//! Access to the servers that an MCP server names: requests, and discovery with its cache.

use std::net::IpAddr;
use std::sync::{Arc, PoisonError};

use http::HeaderMap;

use super::server::Server;
use crate::fetch::{Budget, FetchPolicy, Fetcher};
use crate::metadata::{Discovery, well_known};

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
        let network = network
            .get_or_insert_with(|| self.open_network(self.settings.fetch_policy.clone(), None));
        network.clone()
    }

    /// Notes the address of the server, once it has answered.
    pub(super) fn note_peer(&self, peer: Option<IpAddr>) {
        let mut network = self.network.lock().unwrap_or_else(PoisonError::into_inner);
        let is_known = network.as_ref().is_some_and(|known| known.peer == peer);
        if peer.is_some() && !is_known {
            *network = Some(self.open_network(self.settings.fetch_policy.clone(), peer));
        }
    }

    /// Returns the access to servers for a report, which needs no session with the server.
    pub(super) async fn report_network(&self) -> Network {
        let peer = self.find_peer().await;
        self.open_network(self.direct_policy(), peer)
    }

    /// Returns the address of the server. One request finds it, unless the server has answered already. `None` if that fails: the
    /// next request reports the error. `None` too with an HTTP client of the user, which reports no addresses.
    pub(super) async fn find_peer(&self) -> Option<IpAddr> {
        let known = self.network().peer;
        if known.is_some() {
            return known;
        }
        let policy = self.direct_policy();
        if policy.has_http_client() {
            return None;
        }
        let place = well_known::of_resource(&self.url).into_iter().next()?;
        let fetcher = self.open_network(policy, None).fetcher;
        let (headers, budget) = (HeaderMap::new(), Budget::request());
        let response = fetcher.get(&place, &headers, &budget).await;
        response.ok()?.peer
    }

    /// Returns the policy without a session. The caller has named the server, so its host may be in any network.
    fn direct_policy(&self) -> FetchPolicy {
        let policy = self.settings.fetch_policy.clone();
        policy.allow_host(self.url.host().unwrap_or_default())
    }

    fn open_network(&self, policy: FetchPolicy, peer: Option<IpAddr>) -> Network {
        let mut policy = policy.for_server(&self.url, peer);
        let issuer = self.settings.issuers.preferred.as_deref();
        if let Some(issuer) = issuer.and_then(|issuer| issuer.parse().ok()) {
            policy = policy.name_host_of(&issuer);
        }
        let fetcher = Fetcher::new(policy);
        let discovery = Discovery::new(fetcher.clone(), self.settings.discovery_rules());
        Network {
            peer,
            fetcher,
            discovery: Arc::new(discovery),
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http::{Request, Uri};
    use treenail_http_client::{HttpClient, HttpClientFuture};

    use crate::{FetchPolicy, OAuth};

    #[test]
    fn a_report_contacts_the_server_in_every_network_and_others_in_its_own_only() {
        let oauth = OAuth::console("report");
        let server = oauth.server(&Uri::from_static("https://mcp.corp.example/mcp"));
        let server = server.unwrap();
        let allowed = |host: &str, address: &str, peer: Option<&str>| {
            let url: Uri = format!("https://{host}/").parse().unwrap();
            let peer = peer.map(|peer| peer.parse().unwrap());
            let network = server.open_network(server.direct_policy(), peer);
            let policy = network.fetcher.policy();
            policy.check_address(&url, address.parse().unwrap()).is_ok()
        };
        let private = Some("10.0.0.1");
        assert!(allowed("mcp.corp.example", "10.0.0.1", None), "AUTH-C-130");
        assert!(!allowed("id.corp.example", "10.0.0.2", None), "AUTH-C-130");
        assert!(
            allowed("id.corp.example", "10.0.0.2", private),
            "AUTH-C-130"
        );
        assert!(
            !allowed("mcp.corp.example", "169.254.169.254", None),
            "AUTH-C-130"
        );
    }

    #[tokio::test]
    async fn a_client_of_the_user_is_not_asked_for_an_address() {
        struct Unused;

        impl HttpClient for Unused {
            fn send(&self, request: Request<Bytes>) -> HttpClientFuture<'_> {
                panic!("its response has no address: {}", request.uri());
            }
        }

        let policy = FetchPolicy::default().http_client(Unused);
        let oauth = OAuth::console("report").fetch_policy(policy);
        let server = oauth.server(&Uri::from_static("https://mcp.corp.example/mcp"));
        assert_eq!(server.unwrap().find_peer().await, None);
    }
}
