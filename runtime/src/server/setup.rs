//! What a server is told once, when it is built.

use std::time::Duration;

use serde_json::{Value, json};
use treenail_schema::{CacheScope, Revision};

use crate::around::Around;
use crate::revision::{Style, supported_versions};

/// What does not change while a server runs.
#[derive(Debug)]
pub(crate) struct Setup {
    pub(crate) info: Value,
    /// What comes before the instructions of mounted types.
    pub(crate) instructions: Vec<String>,
    /// What stands for the dots in names.
    pub(crate) separator: Option<String>,
    pub(crate) caching: Caching,
    pub(crate) page_size: usize,
    /// Whether what is offered may change.
    pub(crate) dynamic: bool,
    /// What stands around the function of each tool.
    pub(crate) around: Around,
    /// How results are written, for each revision.
    pub(crate) styles: [Style; Revision::ALL.len()],
}

impl Setup {
    /// The result of `initialize`, or of `server/discover` in the modern era.
    pub(crate) fn greeting(
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
            result["ttlMs"] = self.caching.ttl_ms().into();
            result["cacheScope"] = json!(self.caching.scope);
            result["_meta"] = json!({ "io.modelcontextprotocol/serverInfo": self.info });
        } else {
            result["protocolVersion"] = revision.as_str().into();
            result["serverInfo"] = self.info.clone();
        }
        result.to_string().into_bytes()
    }
}

/// How long clients may keep a list, and whether they may share it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caching {
    pub(crate) ttl: Duration,
    pub(crate) scope: CacheScope,
}

impl Caching {
    /// The time in whole milliseconds, within what every client can read exactly (2^53 - 1).
    pub(crate) fn ttl_ms(&self) -> u64 {
        const LARGEST: u64 = (1 << 53) - 1;
        u64::try_from(self.ttl.as_millis()).map_or(LARGEST, |ttl| ttl.min(LARGEST))
    }
}
