//! Settings of a server that do not change after it is built.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use treenail_schema::{CacheScope, Revision};

use crate::extension::ExtensionFacts;
use crate::revision::{ResultFormat, supported_versions};
use crate::server::subscriptions::Kinds;
use crate::visibility::Rule;

/// Settings of a server, and the styles of its results.
#[derive(Debug)]
pub(crate) struct ServerConfig {
    /// Name, version and display data of the server.
    pub(crate) info: Value,
    /// Instructions that precede those of mounted types.
    pub(crate) instructions: Vec<String>,
    /// Replacement for the dots in names.
    pub(crate) separator: Option<String>,
    /// Extensions of the protocol, and their methods.
    pub(crate) extensions: ExtensionFacts,
    pub(crate) caching: Caching,
    pub(crate) page_size: usize,
    /// Set if [`Server::edit`](crate::Server::edit) may change the registry.
    pub(crate) dynamic: bool,
    /// The lists that may change after the server is built.
    pub(crate) changing: Kinds,
    /// Rules for all items, also for those of later edits.
    pub(crate) rules: Vec<Rule>,
    /// Set once the server has rules, of its own or of a namespace.
    pub(crate) filtered: AtomicBool,
    /// The number of sets of visible items whose lists are cached.
    pub(crate) cached_views: usize,
    /// The style of results for each revision.
    pub(crate) styles: [ResultFormat; Revision::ALL.len()],
}

impl ServerConfig {
    /// Returns true if callers may see different items.
    pub(crate) fn is_filtered(&self) -> bool {
        self.filtered.load(Ordering::Relaxed)
    }

    /// Returns the permission for clients to cache lists. Those of one caller are private.
    pub(crate) fn caching(&self) -> Caching {
        let mut caching = self.caching;
        if self.is_filtered() {
            caching.scope = CacheScope::Private;
        }
        caching
    }

    /// Returns the result of `initialize`, or of `server/discover` in the modern era.
    pub(crate) fn handshake_result(
        &self,
        revision: Revision,
        capabilities: &Value,
        mounted: &[&str],
    ) -> Vec<u8> {
        let own = self.instructions.iter().map(String::as_str);
        let instructions: Vec<&str> = own.chain(mounted.iter().copied()).collect();
        let mut result = json!({ "capabilities": capabilities });
        if !instructions.is_empty() {
            result["instructions"] = instructions.join("\n\n").into();
        }
        if revision.is_modern() {
            result["supportedVersions"] = supported_versions().into();
            result["resultType"] = "complete".into();
            result["ttlMs"] = self.caching().ttl_ms().into();
            result["cacheScope"] = json!(self.caching().scope);
            result["_meta"] = json!({ "io.modelcontextprotocol/serverInfo": self.info });
        } else {
            result["protocolVersion"] = revision.as_str().into();
            result["serverInfo"] = self.info.clone();
        }
        result.to_string().into_bytes()
    }
}

/// Permission for clients to cache lists: the time, and whether users may share them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caching {
    pub(crate) ttl: Duration,
    pub(crate) scope: CacheScope,
}

impl Caching {
    /// Returns the time in whole milliseconds, at most 2^53 - 1, which every client can read exactly.
    pub(crate) fn ttl_ms(&self) -> u64 {
        const LARGEST: u64 = (1 << 53) - 1;
        u64::try_from(self.ttl.as_millis()).map_or(LARGEST, |ttl| ttl.min(LARGEST))
    }
}
