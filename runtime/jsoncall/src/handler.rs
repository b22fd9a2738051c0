//! Server as the handler of a `jsoncall` session.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use ::jsoncall::{
    ErrorCode, Handler, Hook, NotificationContext, Params, RequestContext, RequestId, Response,
    Result, SessionContext,
};
use serde_json::value::RawValue;
use tokio::task::AbortHandle;
use treenail_runtime::Server;

use crate::backlog::Backlog;
use crate::bridge::{Bridge, PendingResponse};
use crate::convert::{params_text, raw, to_jsoncall};
use crate::ids::RequestIds;

/// Internal notification of the guard that its input has ended. The guard drops it if a peer sends it.
pub(super) const END_OF_INPUT: &str = "$/treenail/end";

/// A [`Server`] as the [`Handler`](::jsoncall::Handler) of one `jsoncall` session, created by
/// [`new`](Self::new).
///
/// A session created directly with it has no guard: `jsoncall` ends it at the first invalid line, drops pending
/// responses when its input ends, and has no limits. [`serve`](crate::serve) adds the guard.
///
/// After [`Server::close`], requests are answered with -32603.
pub struct JsoncallHandler {
    server: Server,
    pub(super) bridge: Arc<Bridge>,
    /// Id mapping of the guard, if there is one.
    ids: Option<Arc<RequestIds>>,
    running: Option<AbortHandle>,
}

impl JsoncallHandler {
    /// Creates a handler for one `jsoncall` session, for programs that already have such a session.
    ///
    /// ```
    /// use tokio::io::{BufReader, duplex, split};
    /// use treenail::Server;
    /// use treenail::jsoncall::JsoncallHandler;
    /// use treenail::jsoncall::jsoncall::Session;
    ///
    /// # async fn example(server: Server) {
    /// let (ours, theirs) = duplex(1024);
    /// let (reader, writer) = split(theirs);
    /// let handler = JsoncallHandler::new(&server);
    /// let session = Session::new(handler, BufReader::new(reader), writer, &Default::default());
    /// # }
    /// ```
    pub fn new(server: &Server) -> Self {
        let bridge = Bridge::new(server.limits().backlog_bytes, None);
        Self::over(server, bridge, None)
    }

    pub(super) fn over(server: &Server, bridge: Bridge, ids: Option<Arc<RequestIds>>) -> Self {
        Self {
            server: server.clone(),
            bridge: Arc::new(bridge),
            ids,
            running: None,
        }
    }

    /// Starts the server with the first message, because there is no session before it.
    fn run(&mut self, session: SessionContext) {
        let (bridge, server) = (&self.bridge, &self.server);
        self.running.get_or_insert_with(|| {
            tokio::spawn(Arc::clone(bridge).run(server.clone(), session)).abort_handle()
        });
    }

    /// Passes a request to the server.
    #[allow(
        clippy::result_large_err,
        reason = "the error is that of `jsoncall`, as in the trait"
    )]
    fn begin(
        &mut self,
        method: &str,
        params: Params<'_>,
        cx: &RequestContext<'_>,
    ) -> Result<PendingResponse> {
        let id = self.id_of(cx.id()).ok_or(ErrorCode::INVALID_REQUEST)?;
        let params: Option<&RawValue> = params.to_opt()?;
        let response = catch_panic(|| {
            self.run(cx.session());
            self.bridge.request(&id, method, params_text(params))
        })?;
        response.map_err(to_jsoncall)
    }

    /// Returns the raw text of the peer's request id.
    fn id_of(&self, id: &RequestId) -> Option<String> {
        match &self.ids {
            Some(ids) => Some(ids.text(&id.to_string())?.to_string()),
            None => serde_json::to_string(id).ok(),
        }
    }
}

impl Handler for JsoncallHandler {
    fn hook(&self) -> Arc<dyn Hook> {
        Arc::new(CancelHook(self.bridge.backlog.clone()))
    }

    fn request(
        &mut self,
        method: &str,
        params: Params<'_>,
        cx: RequestContext<'_>,
    ) -> Result<Response> {
        let session = cx.session();
        // The error is a response that the guard forwards as any other.
        let response = self
            .begin(method, params, &cx)
            .inspect_err(|_| self.bridge.count_output(0))?;
        let (request, ids) = (cx.id().clone(), self.ids.clone());
        let bridge = Arc::clone(&self.bridge);
        cx.handle_async(async move {
            match response.await {
                Ok(Ok(result)) => raw(result).ok_or(ErrorCode::INTERNAL_ERROR.into()),
                Ok(Err(error)) => Err(to_jsoncall(error)),
                // With a guard, the session ends together with its server.
                Err(_) if ids.is_none() && bridge.is_finished() => {
                    Err(to_jsoncall(Bridge::closed_error()))
                }
                Err(_) => {
                    // The peer cancelled its request, or the server ended.
                    if let Some(ids) = ids {
                        ids.close(&request.to_string());
                    }
                    session.cancel_incoming_request(&request, None);
                    std::future::pending().await
                }
            }
        })
    }

    fn notification(
        &mut self,
        method: &str,
        params: Params<'_>,
        cx: NotificationContext<'_>,
    ) -> Result<Response> {
        if method == END_OF_INPUT && self.ids.is_some() {
            match self.running {
                Some(_) => self.bridge.end(),
                None => self.bridge.finish(),
            }
            return cx.handle(Ok(()));
        }
        let params: Option<&RawValue> = params.to_opt()?;
        catch_panic(|| {
            self.run(cx.session());
            self.bridge.notification(method, params_text(params));
        })?;
        cx.handle(Ok(()))
    }
}

/// Catches a panic, after which `jsoncall` would stop reading.
fn catch_panic<T>(work: impl FnOnce() -> T) -> Result<T, ErrorCode> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| {
        tracing::error!("a handler panicked");
        ErrorCode::INTERNAL_ERROR
    })
}

impl Drop for JsoncallHandler {
    fn drop(&mut self) {
        if let Some(running) = &self.running {
            running.abort();
        }
    }
}

impl fmt::Debug for JsoncallHandler {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("JsoncallHandler")
            .field("server", &self.server)
            .finish_non_exhaustive()
    }
}

/// Cancels a request to the peer whose response is no longer needed.
struct CancelHook(Option<Arc<Backlog>>);

impl Hook for CancelHook {
    fn cancel_outgoing_request(&self, id: RequestId, session: &SessionContext) {
        if let Some(backlog) = &self.0 {
            backlog.push(0);
        }
        let params = serde_json::json!({ "requestId": id });
        if let Err(error) = session.notification("notifications/cancelled", Some(&params)) {
            tracing::debug!(%error, "failed to cancel a request");
        }
    }
}
