//! Where tools come from.

use std::fmt;
use std::sync::Arc;

use tokio::sync::OnceCell;

use crate::agent::Trust;
use crate::client::{ClientError, McpClient};
use crate::server::Server;
use crate::tool::ToolSet;

/// Where tools come from: a client and the server that it is connected to, a server in the same process, or functions.
///
/// ```
/// use treenail_runtime::Server;
/// use treenail_runtime::client::McpClient;
/// use treenail_runtime::agent::{Model, ToolLoop, ToolSource};
///
/// # fn example(model: impl Model + 'static, files: &McpClient, web: &McpClient, server: Server) {
/// let agent = ToolLoop::new(model)
///     .source("files", ToolSource::from(files).only(["read_text_file", "list_directory"]))
///     .source("web", ToolSource::from(web).untrusted())
///     .source("own", server);
/// # }
/// ```
///
/// Questions that a server asks while its tool runs are answered by its client, not by the loop.
///
/// # Trust
///
/// In the protocol, what tools say of themselves in their annotations is not to be relied on unless the server is trusted.
/// **A source that is given to a loop counts as trusted**: a tool that says that it only reads runs without asking
/// ([`Approval::by_annotations`](crate::agent::Approval::by_annotations) has the rules). A server that the program does
/// not vouch for is given as [`untrusted`](Self::untrusted), and all of its calls ask.
#[derive(Clone)]
pub struct ToolSource {
    origin: Origin,
    pub(super) trust: Trust,
    only: Option<Arc<[String]>>,
}

#[derive(Clone)]
enum Origin {
    Client(McpClient),
    /// Connected to when it is used first, once for all clones.
    Server(Arc<InProcess>),
    /// Functions that make no server.
    Invalid(Arc<str>),
}

struct InProcess {
    server: Server,
    client: OnceCell<McpClient>,
}

impl ToolSource {
    /// Believes nothing of what it says of its tools, so that each call asks; see [`Trust::Nothing`].
    #[must_use]
    pub fn untrusted(mut self) -> Self {
        self.trust = Trust::Untrusted;
        self
    }

    /// Lets its tools run without asking, also those that destroy; see [`Trust::Full`]. That its annotations are
    /// believed needs no more than to name it.
    #[must_use]
    pub fn auto_approve(mut self) -> Self {
        self.trust = Trust::Full;
        self
    }

    /// Offers these of its tools only, by the names that the source gives them.
    #[must_use]
    pub fn only<N: Into<String>>(mut self, tools: impl IntoIterator<Item = N>) -> Self {
        self.only = Some(tools.into_iter().map(Into::into).collect());
        self
    }

    pub(super) fn offers(&self, tool: &str) -> bool {
        let only = self.only.as_deref();
        only.is_none_or(|only| only.iter().any(|name| name == tool))
    }

    /// The client of the source, which is connected if it has not been yet.
    pub(super) async fn client(&self) -> Result<McpClient, ClientError> {
        match &self.origin {
            Origin::Client(client) => Ok(client.clone()),
            Origin::Server(in_process) => {
                let connected = in_process.client.get_or_try_init(|| in_process.connect());
                connected.await.cloned()
            }
            Origin::Invalid(reason) => Err(ClientError::invalid(Arc::clone(reason))),
        }
    }
}

impl InProcess {
    async fn connect(&self) -> Result<McpClient, ClientError> {
        McpClient::builder().server(&self.server).build().await
    }
}

/// The annotations of its tools are believed, as of a server that is trusted; see [`ToolSource::untrusted`].
impl From<McpClient> for ToolSource {
    fn from(client: McpClient) -> Self {
        Self::new(Origin::Client(client))
    }
}

/// The annotations of its tools are believed, as of a server that is trusted; see [`ToolSource::untrusted`].
impl From<&McpClient> for ToolSource {
    fn from(client: &McpClient) -> Self {
        client.clone().into()
    }
}

impl From<Server> for ToolSource {
    fn from(server: Server) -> Self {
        Self::new(Origin::Server(Arc::new(InProcess {
            server,
            client: OnceCell::new(),
        })))
    }
}

impl From<&Server> for ToolSource {
    fn from(server: &Server) -> Self {
        server.clone().into()
    }
}

/// A server in the same process that has these tools. If it cannot be built, the run says why.
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
