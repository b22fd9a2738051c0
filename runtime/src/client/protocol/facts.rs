//! What a client knows of its server once they have met.

use treenail_schema::{
    DiscoverResult, Implementation, InitializeResult, Revision, ServerCapabilities,
};

use crate::client::ClientError;

/// What a client knows of its server once they have met: the revision they speak, and what the server says of itself.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PeerInfo {
    /// The revision that is spoken.
    pub revision: Revision,
    /// What the server can do.
    pub capabilities: ServerCapabilities,
    /// The server's name and version, as it gives them. They are for showing, not for decisions.
    pub info: Option<Implementation>,
    /// How a model should use the server.
    pub instructions: Option<String>,
    /// The revisions that the server says it speaks (modern era), newest first or as it likes.
    pub supported_versions: Vec<String>,
    /// What each request has in its `_meta`: texts of members.
    pub(super) meta: String,
}

impl PeerInfo {
    pub(super) fn discovered(revision: Revision, result: DiscoverResult, meta: String) -> Self {
        let info = result.meta.and_then(|meta| meta.server_info);
        Self {
            revision,
            capabilities: result.capabilities,
            info,
            instructions: result.instructions,
            supported_versions: result.supported_versions,
            meta,
        }
    }

    pub(super) fn initialized(revision: Revision, result: InitializeResult) -> Self {
        Self {
            revision,
            capabilities: result.capabilities,
            info: Some(result.server_info),
            instructions: result.instructions,
            supported_versions: Vec::new(),
            meta: String::new(),
        }
    }

    /// Whether the server has declared neither tools nor prompts nor resources. There are servers that forget to declare
    /// their tools, so that these may be tried.
    pub(in crate::client) fn declares_nothing(&self) -> bool {
        let capabilities = &self.capabilities;
        capabilities.tools.is_none()
            && capabilities.prompts.is_none()
            && capabilities.resources.is_none()
    }

    /// Refuses a request that the server has not said it can answer.
    pub(super) fn allow(&self, method: &str) -> Result<(), ClientError> {
        use treenail_schema::method::{Direction, exists};

        let capabilities = &self.capabilities;
        // These are in every revision.
        let (name, declared) = match method {
            "tools/call" | "tools/list" => {
                let declared = capabilities.tools.is_some() || self.declares_nothing();
                ("tools", declared)
            }
            "prompts/get" | "prompts/list" => ("prompts", capabilities.prompts.is_some()),
            "resources/read" | "resources/list" | "resources/templates/list" => {
                ("resources", capabilities.resources.is_some())
            }
            _ if !exists(method, Direction::ClientToServer, self.revision) => {
                let revision = self.revision;
                let reason = format!("revision {revision} of the protocol has no `{method}`");
                return Err(ClientError::unsupported(reason));
            }
            "resources/subscribe" | "resources/unsubscribe" => {
                let resources = capabilities.resources.as_ref();
                let subscribe = resources.and_then(|resources| resources.subscribe);
                ("resources.subscribe", subscribe == Some(true))
            }
            // The first revision has completions without a capability for them.
            "completion/complete" if self.revision > Revision::V2024_11_05 => {
                ("completions", capabilities.completions.is_some())
            }
            "logging/setLevel" => ("logging", capabilities.logging.is_some()),
            _ => return Ok(()),
        };
        if declared {
            return Ok(());
        }
        let reason = format!("the server has not declared `{name}`, which `{method}` needs");
        Err(ClientError::unsupported(reason))
    }
}
