//! One connection to a server, and the requests over it as JSON text.

mod capabilities;
mod log_level;
mod meta;

use std::fmt;
use std::future::Future;
use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use treenail_runtime::Context;
use treenail_runtime::client::{ClientError, McpClient, Session, SessionRequest, TransportKind};
use treenail_runtime::internal::{HeaderArguments, client_limits, sends_header_arguments};
use treenail_schema::{LoggingLevel, Revision, error_code};

pub(crate) use self::capabilities::all_capabilities;
pub(crate) use self::meta::{RESERVED, passed_notification_meta};
use crate::remote::CallMeta;
use crate::tap::Tap;

/// First id of the requests of a proxy. Those of its client for lists are smaller.
const FIRST_ID: i64 = 1 << 40;

/// One connection to a server.
pub(crate) struct Link {
    pub(crate) client: McpClient,
    pub(crate) tap: Arc<Tap>,
    pub(crate) revision: Revision,
    session: Arc<dyn Session>,
    /// Members of `_meta` that the proxy adds.
    meta: Option<Arc<CallMeta>>,
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
    /// Source of the headers, if the server may require them.
    pub(crate) header_source: Option<HeaderSource>,
}

/// Source of the headers of a call of a tool.
#[derive(Clone, Debug)]
pub(crate) struct HeaderSource {
    pub(crate) tool: String,
    /// Place of the arguments in the members of the call.
    pub(crate) arguments: Range<usize>,
}

/// Response to a request, as JSON text.
pub(crate) type Reply = Pin<Box<dyn Future<Output = Result<String, ClientError>> + Send>>;

impl fmt::Debug for Link {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Link")
            .field("client", &self.client)
            .field("revision", &self.revision)
            .finish_non_exhaustive()
    }
}

impl Link {
    pub(crate) fn new(client: McpClient, tap: Arc<Tap>, meta: Option<Arc<CallMeta>>) -> Self {
        let session = Arc::clone(client.session().session());
        tap.note_limits(client_limits(&client));
        Self {
            revision: client.session().protocol_version(),
            client,
            tap,
            session,
            meta,
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
        let source = call.header_source.clone();
        Box::pin(async move {
            let reply = link.request(request, level, source).await;
            link.note_reached(&reply);
            reply.inspect_err(|error| link.note_failure(error))
        })
    }

    /// Sends a request, and sends it again if the server has not run it: in a new session, or with other headers.
    async fn request(
        &self,
        mut request: SessionRequest,
        level: Option<LoggingLevel>,
        source: Option<HeaderSource>,
    ) -> Result<String, ClientError> {
        self.set_log_level(level).await;
        let refused = match (self.session.request(request.clone()).await, source) {
            (Err(ClientError::SessionExpired), _) => {
                self.renew_session().await?;
                self.set_log_level(level).await;
                return self.session.request(request).await;
            }
            (Err(ClientError::Refused(error)), Some(source)) => (error, source),
            (reply, _) => return reply,
        };
        let (error, source) = refused;
        if error.code != error_code::HEADER_MISMATCH {
            return Err(ClientError::Refused(error));
        }
        // The headers are based on an outdated schema, and so are the features of the proxy.
        self.client.refresh_tools().await?;
        self.tap.note_lists();
        let tool = self.client.tool(&source.tool).await?;
        let arguments = tool.map(|tool| HeaderArguments::of(&tool));
        // The members follow the brace.
        let (start, end) = (source.arguments.start + 1, source.arguments.end + 1);
        let headers = arguments.map(|found| found.headers(&request.params[start..end]));
        request.headers = headers.unwrap_or_default();
        self.session.request(request).await
    }

    /// Starts a session for one that has expired: the client does so for a request of its own.
    async fn renew_session(&self) -> Result<(), ClientError> {
        let before = *self.tap.sessions.borrow();
        let renewed = self.client.session().ping().await;
        if let Err(error) = renewed {
            if *self.tap.sessions.borrow() == before {
                let cause = format!("its session has ended, and there is no other: {error}");
                self.tap.note_outdated(cause);
            }
            return Err(error);
        }
        self.tap.missed();
        Ok(())
    }

    /// Notes whether a request has reached the server, if its result shows that.
    pub(crate) fn note_reached<T>(&self, result: &Result<T, ClientError>) {
        match result {
            Ok(_) | Err(ClientError::Refused(_)) => self.tap.note_reached(Ok(())),
            Err(ClientError::Unreachable(cause)) => self.tap.note_reached(Err(cause)),
            Err(_) => {}
        }
    }

    /// Notes a failure that concerns the connection.
    fn note_failure(&self, error: &ClientError) {
        match error {
            ClientError::Closed(reason) if !self.is_http() => self.tap.note_closed(reason),
            ClientError::Refused(refused)
                if self.is_http() && refused.code == error_code::UNSUPPORTED_PROTOCOL_VERSION =>
            {
                self.tap.note_outdated(error.to_string());
            }
            _ => {}
        }
    }

    /// Maximum number of calls that may wait for their clients: the connection stays usable for other calls, and for other
    /// questions.
    pub(crate) fn max_waiting_calls(&self) -> usize {
        let limits = client_limits(&self.client);
        let in_flight = limits.requests_in_flight / 2;
        // Over HTTP, twice as many requests of the server are accepted.
        let most = if self.is_http() {
            in_flight.min(limits.pending_server_requests)
        } else {
            in_flight
        };
        most.max(1)
    }

    /// Returns true if each request is one of HTTP.
    pub(crate) fn is_http(&self) -> bool {
        self.session.transport() == TransportKind::Http
    }

    /// Returns true if the server may require headers for calls of tools.
    pub(crate) fn sends_header_arguments(&self) -> bool {
        sends_header_arguments(&self.client)
    }
}
