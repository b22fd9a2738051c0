//! Description of the server, known after the handshake.

use treenail_schema::{
    DiscoverResult, Implementation, InitializeResult, Revision, ServerCapabilities,
};

use crate::client::ClientError;

/// Description of the server, known after the handshake: the negotiated revision and the server's own metadata.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PeerInfo {
    /// The negotiated revision.
    pub revision: Revision,
    /// The capabilities that the server has declared.
    pub capabilities: ServerCapabilities,
    /// The server's name and version, as it reports them. They are meant for display, not for decisions.
    pub info: Option<Implementation>,
    /// Instructions for a model that uses the server.
    pub instructions: Option<String>,
    /// The revisions that the server supports (modern era), in the server's own order.
    pub supported_versions: Vec<String>,
    /// Members of `_meta` in each request, as JSON text.
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

    /// Returns true if the server has declared neither tools nor prompts nor resources. Some servers forget to declare
    /// their tools, so these may still be requested.
    pub(in crate::client) fn declares_nothing(&self) -> bool {
        let capabilities = &self.capabilities;
        capabilities.tools.is_none()
            && capabilities.prompts.is_none()
            && capabilities.resources.is_none()
    }

    /// Returns true if the server has declared the tasks of the modern era.
    pub(super) fn declares_tasks(&self) -> bool {
        self.declares("io.modelcontextprotocol/tasks")
    }

    fn declares(&self, extension: &str) -> bool {
        let declared = self.capabilities.extensions.as_ref();
        declared.is_some_and(|declared| declared.contains_key(extension))
    }

    /// Rejects a request of an extension that the server has not declared.
    pub(super) fn check_extension(&self, extension: &str, method: &str) -> Result<(), ClientError> {
        if self.declares(extension) {
            return Ok(());
        }
        let reason = format!(
            "the server has not declared the extension `{extension}`, which `{method}` belongs to"
        );
        Err(ClientError::unsupported(reason))
    }

    /// Rejects a request that the capabilities or the revision of the server do not cover.
    pub(super) fn check_support(&self, method: &str) -> Result<(), ClientError> {
        use treenail_schema::method::{Direction, exists};

        let capabilities = &self.capabilities;
        // These methods exist in every revision.
        let (name, declared) = match method {
            "tools/call" | "tools/list" => {
                let declared = capabilities.tools.is_some() || self.declares_nothing();
                ("tools", declared)
            }
            "prompts/get" | "prompts/list" => ("prompts", capabilities.prompts.is_some()),
            "resources/read" | "resources/list" | "resources/templates/list" => {
                ("resources", capabilities.resources.is_some())
            }
            "tasks/get" | "tasks/update" | "tasks/cancel" if self.revision.is_modern() => {
                return Ok(());
            }
            _ if !exists(method, Direction::ClientToServer, self.revision) => {
                let revision = self.revision;
                let instead = substitute(method);
                let reason =
                    format!("revision {revision} of the protocol has no `{method}`{instead}");
                return Err(ClientError::unsupported(reason));
            }
            "resources/subscribe" | "resources/unsubscribe" => {
                let resources = capabilities.resources.as_ref();
                let subscribe = resources.and_then(|resources| resources.subscribe);
                ("resources.subscribe", subscribe == Some(true))
            }
            "tasks/cancel" => {
                let tasks = capabilities.tasks.as_ref();
                let cancel = tasks.and_then(|tasks| tasks.cancel.as_ref());
                ("tasks.cancel", cancel.is_some())
            }
            // The first revision has completions, but no capability for them.
            "completion/complete" if self.revision > Revision::V2024_11_05 => {
                ("completions", capabilities.completions.is_some())
            }
            "logging/setLevel" => ("logging", capabilities.logging.is_some()),
            _ => return Ok(()),
        };
        if declared {
            return Ok(());
        }
        let reason = format!("the server has not declared `{name}`, which `{method}` requires");
        Err(ClientError::unsupported(reason))
    }
}

/// Returns the method of the client for a request that exists only in the other era, after a semicolon.
fn substitute(method: &str) -> &'static str {
    match method {
        "resources/subscribe" | "resources/unsubscribe" => {
            "; use `McpClient::resource_updates`, or `subscriptions_listen` of the session"
        }
        "subscriptions/listen" => {
            "; use `McpClient::resource_updates` for resources, or `resources_subscribe` of the session"
        }
        _ => "",
    }
}
