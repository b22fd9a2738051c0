//! Who a test client is.

use std::future::{Future, IntoFuture};
use std::pin::Pin;

use serde::Serialize;
use serde_json::{Value, json};
use treenail_schema::{ClientCapabilities, Implementation, InputRequest, LoggingLevel, Revision};

use crate::extensions::{Extensions, Principal};
use crate::server::Server;
use crate::test_client::TestClient;
use crate::test_client::answers::{Answers, everything};
use crate::test_client::exchange::read_as;
use crate::wire::RpcError;

impl Server {
    /// Connects a client in the same process, for tests; awaiting it connects.
    ///
    /// It speaks the newest revision if no other is chosen.
    pub fn test_client(&self) -> TestClientBuilder {
        TestClientBuilder {
            server: self.clone(),
            profile: Profile {
                revision: Revision::LATEST,
                capabilities: ClientCapabilities::default(),
                answers: None,
                info: Implementation::new("test", "0"),
                log_level: None,
            },
            declares: None,
            extensions: Extensions::new(),
        }
    }
}

/// A [`TestClient`] that is not connected yet; awaiting it connects, in the legacy era with a handshake.
///
/// ```
/// use treenail_runtime::Server;
/// use treenail_runtime::schema::Revision;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let server = Server::builder("demo", "1.0.0").build()?;
/// let mut client = server.test_client().revision(Revision::V2025_06_18).principal("alice").await?;
/// assert_eq!(client.initialize_result().unwrap().server_info.name, "demo");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use = "awaiting it connects"]
pub struct TestClientBuilder {
    server: Server,
    profile: Profile,
    /// What it was told to declare.
    declares: Option<ClientCapabilities>,
    extensions: Extensions,
}

/// What a client says of itself.
#[derive(Clone, Debug)]
pub(super) struct Profile {
    pub(super) revision: Revision,
    pub(super) answers: Option<Answers>,
    capabilities: ClientCapabilities,
    info: Implementation,
    log_level: Option<LoggingLevel>,
}

impl Profile {
    /// Adds to `params` the `_meta` of a request, where it does not say otherwise already.
    pub(super) fn add_meta(&self, id: i64, params: &mut Value) {
        let Some(params) = params.as_object_mut() else {
            return;
        };
        let mut members = vec![("progressToken", json!(id))];
        if self.revision.is_modern() {
            members.push((
                "io.modelcontextprotocol/protocolVersion",
                json!(self.revision.as_str()),
            ));
            members.push((
                "io.modelcontextprotocol/clientCapabilities",
                json!(self.capabilities),
            ));
            members.push(("io.modelcontextprotocol/clientInfo", json!(self.info)));
            let level = self.log_level.map(|level| json!(level));
            members.extend(level.map(|level| ("io.modelcontextprotocol/logLevel", level)));
        }
        let meta = params.entry("_meta").or_insert_with(|| json!({}));
        if let Some(meta) = meta.as_object_mut() {
            for (key, value) in members {
                meta.entry(key).or_insert(value);
            }
        }
    }
}

impl TestClientBuilder {
    /// The revision that the client speaks. Default: the newest.
    pub fn revision(mut self, revision: Revision) -> Self {
        self.profile.revision = revision;
        self
    }

    /// What the client can do. Default: nothing beyond the protocol's base, or, if it has [answers](Self::answer),
    /// everything that can be asked.
    pub fn capabilities(mut self, capabilities: ClientCapabilities) -> Self {
        self.declares = Some(capabilities);
        self
    }

    /// Answers what the server asks while it serves a request: `answer` gets each question, and returns what serializes to
    /// the result of the question's method, or an error.
    ///
    /// It is the same in both eras. In the legacy one the server gets the answer, or the error, as the response to a request
    /// of its own. In the modern one the test client makes the request again with the answers; an error ends the request
    /// there and is what it fails with. Of one request at most 100 questions are answered.
    ///
    /// Default: no answers. Then a request that needs some fails; [`TestClient::request`] returns what a server of the
    /// modern era asks.
    ///
    /// ```
    /// use serde_json::json;
    /// use treenail_runtime::Server;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let server = Server::builder("demo", "1.0.0").build()?;
    /// let client = server.test_client().answer(|question| {
    ///     assert_eq!(question.method(), "elicitation/create");
    ///     Ok(json!({"action": "accept", "content": {"name": "Ada"}}))
    /// });
    /// let mut client = client.await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn answer<F, R>(mut self, answer: F) -> Self
    where
        F: FnMut(InputRequest) -> Result<R, RpcError> + Send + 'static,
        R: Serialize,
    {
        self.profile.answers = Some(Answers::new(answer));
        self
    }

    /// The name and version that the client gives itself. Default: `test`, `0`.
    pub fn client_info(mut self, info: Implementation) -> Self {
        self.profile.info = info;
        self
    }

    /// The least serious log messages that the client wants. Default: those that the server sends unasked.
    pub fn log_level(mut self, level: LoggingLevel) -> Self {
        self.profile.log_level = Some(level);
        self
    }

    /// A value that the transport would put on the connection, see [`Extensions`].
    pub fn extension<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        self.extensions.insert(value);
        self
    }

    /// Who is calling, as the transport would have authenticated it. Default: nobody in particular.
    pub fn principal(self, id: &str) -> Self {
        self.extension(Principal::new(id))
    }

    async fn connect(mut self) -> Result<TestClient, RpcError> {
        let profile = &mut self.profile;
        profile.capabilities = match (self.declares, &profile.answers) {
            (Some(capabilities), _) => capabilities,
            (None, Some(_)) => everything(profile.revision),
            (None, None) => ClientCapabilities::default(),
        };
        let mut connection = self.server.connect();
        *connection.extensions_mut() = self.extensions;
        let mut client = TestClient {
            connection,
            profile: self.profile,
            last_id: 0,
            answered: 0,
            initialized: None,
            notifications: Vec::new(),
        };
        if !client.profile.revision.is_modern() {
            client.initialize().await?;
        }
        Ok(client)
    }
}

impl IntoFuture for TestClientBuilder {
    type Output = Result<TestClient, RpcError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.connect())
    }
}

impl TestClient {
    /// The handshake of the legacy era.
    async fn initialize(&mut self) -> Result<(), RpcError> {
        let Profile {
            revision,
            capabilities,
            info,
            log_level,
            ..
        } = self.profile.clone();
        let params = json!({
            "protocolVersion": revision.as_str(), "capabilities": capabilities, "clientInfo": info,
        });
        let result = self.exchange("initialize", params).await?;
        self.initialized = Some(read_as(&result)?);
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        if let Some(level) = log_level {
            let params = json!({"level": level});
            self.exchange("logging/setLevel", params).await?;
        }
        Ok(())
    }
}
