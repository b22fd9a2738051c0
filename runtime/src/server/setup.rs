//! What a server is told once, when it is built.

use serde_json::{Value, json};
use treenail_schema::Revision;

use crate::around::Around;
use crate::revision::{ResultFormat, supported_versions};
use crate::server::list::Caching;

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
    pub(crate) styles: [ResultFormat; Revision::ALL.len()],
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
