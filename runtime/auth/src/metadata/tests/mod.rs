//! Tests of metadata and their discovery, over a transport without network.

mod authorization_server;
mod hostile;
#[cfg(feature = "oauth")]
mod resource;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::{HeaderMap, Request, StatusCode, Uri};
use serde_json::{Value, json};

use super::{Discovery, DiscoveryRules};
use crate::AuthError;
use crate::fetch::{Budget, FetchPolicy, FetchResponse, Fetcher, Transport, TransportFuture};

/// Documents by URL, and the requests for them.
#[derive(Default)]
struct Web {
    pages: Mutex<HashMap<String, (u16, Vec<u8>)>>,
    asked: Mutex<Vec<(String, Option<String>)>>,
}

impl Web {
    fn page(&self, url: &str, status: u16, body: impl Into<Vec<u8>>) {
        let mut pages = self.pages.lock().unwrap();
        pages.insert(url.to_owned(), (status, body.into()));
    }

    fn json(&self, url: &str, body: &Value) {
        self.page(url, 200, body.to_string());
    }

    /// Returns the URLs that were requested since the last call.
    fn asked(&self) -> Vec<String> {
        let asked = std::mem::take(&mut *self.asked.lock().unwrap());
        asked.into_iter().map(|(url, _)| url).collect()
    }

    /// Returns the URLs that were requested since the last call, with their revision.
    fn asked_with_revision(&self) -> Vec<(String, Option<String>)> {
        std::mem::take(&mut *self.asked.lock().unwrap())
    }
}

/// Status of pages that lose the connection.
const LOST: u16 = 999;

struct Transported(Arc<Web>);

impl Transport for Transported {
    fn send(&self, request: Request<Bytes>) -> TransportFuture<'_> {
        let url = request.uri().to_string();
        let revision = request.headers().get("mcp-protocol-version");
        let revision = revision.map(|value| value.to_str().unwrap().to_owned());
        assert!(
            !request.headers().contains_key("authorization"),
            "AUTH-X-16"
        );
        self.0.asked.lock().unwrap().push((url.clone(), revision));
        let page = self.0.pages.lock().unwrap().get(&url).cloned();
        Box::pin(async move {
            let (status, body) = page.unwrap_or((404, b"no such page".to_vec()));
            if status == LOST {
                return Err(AuthError::Unavailable("the connection broke off".into()));
            }
            let status = StatusCode::from_u16(status).unwrap();
            let mut headers = HeaderMap::new();
            if status.is_redirection() {
                headers.insert("location", "https://elsewhere.example/".parse().unwrap());
            }
            Ok(FetchResponse::new(status, headers, body))
        })
    }
}

fn discovery(web: &Arc<Web>, server: &str, rules: DiscoveryRules) -> Discovery {
    let server: Uri = server.parse().unwrap();
    let policy = FetchPolicy::default().for_server(&server, None);
    let transport = Arc::new(Transported(Arc::clone(web)));
    Discovery::new(Fetcher::with_transport(policy, transport), rules)
}

/// Metadata of an authorization server.
fn document(issuer: &str) -> Value {
    json!({
        "issuer": issuer,
        "authorization_endpoint": "https://as.example/authorize",
        "token_endpoint": "https://as.example/token",
        "response_types_supported": ["code"],
        "code_challenge_methods_supported": ["S256"],
    })
}
