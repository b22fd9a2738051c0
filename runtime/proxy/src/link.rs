//! One connection to a server, and the requests over it as JSON text.

use std::fmt::Write;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

use serde_json::Value;
use treenail_runtime::Context;
use treenail_runtime::client::{ClientError, McpClient, Session, SessionRequest};
use treenail_schema::internal::shortened;
use treenail_schema::{ClientCapabilities, JsonObject, LoggingLevel, Revision};

use crate::tap::Tap;

/// First id of the requests of a proxy. Those of its client for lists are smaller.
const FIRST_ID: i64 = 1 << 40;

/// Prefix of the members of `_meta` that belong to one hop.
const RESERVED: &str = "io.modelcontextprotocol/";

/// Extension of the protocol that needs nothing from a proxy. Others change the methods or results of a server.
const PASSED_EXTENSION: &str = "io.modelcontextprotocol/ui";

/// One connection to a server.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) client: McpClient,
    pub(crate) tap: Arc<Tap>,
    pub(crate) revision: Revision,
    session: Arc<dyn Session>,
    next_id: AtomicI64,
}

/// Request for a server, without the parts that differ between its rounds.
#[derive(Clone, Debug)]
pub(crate) struct RemoteCall {
    pub(crate) method: &'static str,
    /// Members of the parameters, as JSON text.
    pub(crate) members: String,
    /// Arguments that are repeated in headers.
    pub(crate) headers: Vec<(String, String)>,
}

/// Response to a request, as JSON text.
pub(crate) type Reply = Pin<Box<dyn Future<Output = Result<String, ClientError>> + Send>>;

impl Link {
    pub(crate) fn new(client: McpClient, tap: Arc<Tap>) -> Self {
        let session = Arc::clone(client.session().session());
        Self {
            revision: client.session().protocol_version(),
            client,
            tap,
            session,
            next_id: AtomicI64::new(FIRST_ID),
        }
    }

    pub(crate) fn next_id(&self) -> i64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    /// Sends a request for the call of `context`. `round` has further members of the parameters.
    pub(crate) fn send(
        self: &Arc<Self>,
        id: i64,
        call: &RemoteCall,
        round: &str,
        context: &Context,
    ) -> Reply {
        let mut params = String::with_capacity(call.members.len() + round.len() + 256);
        params.push('{');
        params.push_str(&call.members);
        if !round.is_empty() {
            params.push(',');
            params.push_str(round);
        }
        params.push_str(",\"_meta\":{");
        self.push_meta(&mut params, id, context);
        params.push_str("}}");
        let mut request = SessionRequest::new(id, call.method, params);
        request.revision = Some(self.revision);
        request.headers.clone_from(&call.headers);
        let link = Arc::clone(self);
        let level = context.log_level();
        Box::pin(async move {
            link.set_log_level(level).await;
            match link.session.request(request.clone()).await {
                Err(ClientError::SessionExpired) => {
                    // The client starts a session for its own request. The server has not run this one.
                    link.client.session().ping().await?;
                    link.tap.missed();
                    link.set_log_level(level).await;
                    link.session.request(request).await
                }
                reply => reply,
            }
        })
    }

    /// Writes the members of `_meta`: those of the caller, except for those that belong to its own connection.
    fn push_meta(&self, params: &mut String, id: i64, context: &Context) {
        // Writing to a string cannot fail.
        let _ = write!(params, "\"progressToken\":{id}");
        for (key, value) in context.meta().iter() {
            if key != "progressToken" && !key.starts_with(RESERVED) {
                let _ = write!(params, ",{}:{value}", Value::from(&**key));
            }
        }
        if !self.revision.is_modern() {
            return;
        }
        let capabilities = passed_capabilities(context.client_capabilities());
        let capabilities = serde_json::to_string(&capabilities).unwrap_or_else(|_| "{}".to_owned());
        let _ = write!(
            params,
            ",\"{RESERVED}protocolVersion\":\"{}\",\"{RESERVED}clientCapabilities\":{capabilities}",
            self.revision
        );
        if let Some(info) = context
            .client_info()
            .and_then(|info| serde_json::to_string(info).ok())
        {
            let _ = write!(params, ",\"{RESERVED}clientInfo\":{info}");
        }
        if let Some(level) = context.log_level() {
            let _ = write!(
                params,
                ",\"{RESERVED}logLevel\":{}",
                Value::from(level.as_str())
            );
        }
    }

    /// Requests log messages from a server of the legacy era, if a caller wants more of them than all before in its
    /// session.
    async fn set_log_level(&self, level: Option<LoggingLevel>) {
        let Some(level) = level.filter(|_| !self.revision.is_modern()) else {
            return;
        };
        let session = self.client.session();
        if session.server_capabilities().logging.is_none() {
            return;
        }
        let Some(mut requested) = RequestedLevel::new(&self.tap.log_level, level) else {
            return;
        };
        let answer = session.logging_set_level(level).await;
        // After a timeout it is not repeated: every call would wait for a server that does not answer it. Other errors, such as
        // missing credentials, are no answer of the server.
        requested.is_lost = !matches!(
            answer,
            Ok(_) | Err(ClientError::Timeout(_) | ClientError::Refused(_))
        );
        if let Err(error) = answer {
            let error = shortened(&error.to_string());
            tracing::debug!(%error, "a server did not accept a log level");
        }
    }
}

/// Log level that is requested from a server. If the request is lost or dropped, the next call repeats it.
struct RequestedLevel<'a> {
    level: &'a AtomicUsize,
    requested: usize,
    before: usize,
    is_lost: bool,
}

impl<'a> RequestedLevel<'a> {
    /// Lowers `level`; `None` if it is not above `requested`.
    fn new(level: &'a AtomicUsize, requested: LoggingLevel) -> Option<Self> {
        let requested = requested as usize;
        let before = level.fetch_min(requested, Ordering::Relaxed);
        (requested < before).then_some(Self {
            level,
            requested,
            before,
            is_lost: true,
        })
    }
}

impl Drop for RequestedLevel<'_> {
    fn drop(&mut self) {
        if self.is_lost {
            // Another session may have started, or another call may have requested more.
            let (requested, before) = (self.requested, self.before);
            let _ = self.level.compare_exchange(
                requested,
                before,
                Ordering::Relaxed,
                Ordering::Relaxed,
            );
        }
    }
}

/// Returns the capabilities of a caller that a proxy passes on.
pub(crate) fn passed_capabilities(capabilities: &ClientCapabilities) -> ClientCapabilities {
    let mut passed = ClientCapabilities::new();
    passed.elicitation.clone_from(&capabilities.elicitation);
    passed.sampling.clone_from(&capabilities.sampling);
    passed.roots.clone_from(&capabilities.roots);
    let extension = capabilities.extensions.as_ref();
    if let Some(settings) = extension.and_then(|all| all.get(PASSED_EXTENSION)) {
        passed.extensions = Some([(PASSED_EXTENSION.to_owned(), settings.clone())].into());
    }
    passed
}

/// Returns the capabilities that are declared to servers of the legacy era, whose clients are not known at the handshake.
pub(crate) fn all_capabilities() -> ClientCapabilities {
    use treenail_schema::{
        ClientCapabilitiesElicitation, ClientCapabilitiesRoots, ClientCapabilitiesSampling,
    };

    let elicitation = ClientCapabilitiesElicitation::new()
        .with_form(JsonObject::new())
        .with_url(JsonObject::new());
    let mut sampling = ClientCapabilitiesSampling::new();
    sampling.tools = Some(JsonObject::new());
    ClientCapabilities::new()
        .with_elicitation(elicitation)
        .with_sampling(sampling)
        .with_roots(ClientCapabilitiesRoots::new())
}
