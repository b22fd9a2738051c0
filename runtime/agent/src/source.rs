//! Sources of tools.

use std::fmt;
use std::sync::Arc;

use tokio::sync::Mutex;
use treenail_runtime::Server;
use treenail_runtime::ToolSet;
use treenail_runtime::client::{ClientError, McpClient};
use treenail_runtime::internal::TaskSession as _;
use treenail_schema::Tool;
use treenail_schema::internal::{nearest, quoted};

use crate::Trust;

/// Source of tools: a client that is connected to a server, a server in the same process, or functions.
///
/// ```
/// use treenail::Server;
/// use treenail::client::McpClient;
/// use treenail::agent::{Model, ToolLoop, ToolSource};
///
/// # fn example(model: impl Model + 'static, files: &McpClient, web: &McpClient, server: Server) {
/// let agent = ToolLoop::new(model)
///     .source("files", ToolSource::from(files).only(["read_text_file", "list_directory"]))
///     .source("web", ToolSource::from(web).untrusted())
///     .source("own", server);
/// # }
/// ```
///
/// Requests that a server sends while its tool runs go to its client, not to the loop.
///
/// # Trust
///
/// The protocol requires that tool annotations are not relied on unless the server is trusted. **A source that is added
/// to a loop counts as trusted**: a tool that declares itself read-only runs without approval
/// ([`Approval::by_annotations`](crate::Approval::by_annotations) has the rules). Add a server that the program
/// does not vouch for as [`untrusted`](Self::untrusted); then each of its calls needs approval.
#[derive(Clone)]
pub struct ToolSource {
    origin: Origin,
    pub(super) trust: Trust,
    only: Option<Arc<[String]>>,
}

#[derive(Clone)]
enum Origin {
    Client(McpClient),
    /// Server in the same process, with one connection, which all clones share.
    Server(Arc<InProcess>),
    /// Functions from which no server could be built.
    Invalid(Arc<str>),
}

struct InProcess {
    server: Server,
    /// Absent before the first use.
    client: Mutex<Option<McpClient>>,
}

impl ToolSource {
    /// Ignores the annotations of its tools, so that each call needs approval; see [`Trust::Untrusted`].
    #[must_use]
    pub fn untrusted(mut self) -> Self {
        self.trust = Trust::Untrusted;
        self
    }

    /// Runs its tools without approval, including destructive ones; see [`Trust::Full`]. Without this, annotations are
    /// already believed.
    #[must_use]
    pub fn auto_approve(mut self) -> Self {
        self.trust = Trust::Full;
        self
    }

    /// Restricts the source to these tools, by their names at the source. If it has none of them at the start of a run, the
    /// run fails. A warning is logged for each one that it does not have.
    #[must_use]
    pub fn only<N: Into<String>>(mut self, tools: impl IntoIterator<Item = N>) -> Self {
        self.only = Some(tools.into_iter().map(Into::into).collect());
        self
    }

    /// Describes the requested tools that are not among `tools`.
    pub(super) fn missing(&self, tools: &[Arc<Tool>]) -> Vec<String> {
        let names = || tools.iter().map(|tool| &*tool.name);
        let requested = self.only.iter().flat_map(|only| only.iter());
        let missing = requested.filter(|name| names().all(|known| known != *name));
        missing
            .map(|name| {
                let hint =
                    nearest(name, names()).map(|it| format!("; did you mean {}?", quoted(it)));
                format!(
                    "there is no tool {}{}",
                    quoted(name),
                    hint.unwrap_or_default()
                )
            })
            .collect()
    }

    pub(super) fn offers(&self, tool: &str) -> bool {
        let only = self.only.as_deref();
        only.is_none_or(|only| only.iter().any(|name| name == tool))
    }

    /// Returns the client of the source, and connects it first if necessary.
    pub(super) async fn client(&self) -> Result<McpClient, ClientError> {
        match &self.origin {
            Origin::Client(client) => Ok(client.clone()),
            Origin::Server(in_process) => in_process.client().await,
            Origin::Invalid(reason) => Err(ClientError::invalid(Arc::clone(reason))),
        }
    }
}

impl InProcess {
    /// Returns the client. Connects it on first use, and again if its tokio runtime has stopped.
    async fn client(&self) -> Result<McpClient, ClientError> {
        let mut client = self.client.lock().await;
        let connected = client.as_ref().filter(|it| !it.session().is_closed());
        if let Some(connected) = connected {
            return Ok(connected.clone());
        }
        let connected = McpClient::builder().server(&self.server).build().await?;
        Ok(client.insert(connected).clone())
    }
}

/// The annotations of its tools are believed, as for a trusted server; see [`ToolSource::untrusted`].
impl From<McpClient> for ToolSource {
    fn from(client: McpClient) -> Self {
        Self::new(Origin::Client(client))
    }
}

/// The annotations of its tools are believed, as for a trusted server; see [`ToolSource::untrusted`].
impl From<&McpClient> for ToolSource {
    fn from(client: &McpClient) -> Self {
        client.clone().into()
    }
}

impl From<Server> for ToolSource {
    fn from(server: Server) -> Self {
        Self::new(Origin::Server(Arc::new(InProcess {
            server,
            client: Mutex::default(),
        })))
    }
}

impl From<&Server> for ToolSource {
    fn from(server: &Server) -> Self {
        server.clone().into()
    }
}

/// Creates a server in the same process with these tools. If it cannot be built, the run fails with the cause.
impl From<ToolSet> for ToolSource {
    fn from(tools: ToolSet) -> Self {
        let server = Server::builder("tools", env!("CARGO_PKG_VERSION")).tools(tools);
        match server.build() {
            Ok(server) => server.into(),
            Err(error) => Self::new(Origin::Invalid(error.to_string().into())),
        }
    }
}

impl ToolSource {
    fn new(origin: Origin) -> Self {
        Self {
            origin,
            trust: Trust::default(),
            only: None,
        }
    }
}

impl fmt::Debug for ToolSource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ToolSource")
            .field("trust", &self.trust)
            .field("only", &self.only)
            .finish_non_exhaustive()
    }
}
