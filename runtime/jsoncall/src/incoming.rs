//! Requests and notifications of a server, as received through `jsoncall`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use ::jsoncall::{
    ErrorCode, Handler, NotificationContext, Params, RequestContext, Response, Result,
};
use serde_json::value::RawValue;
use tokio::sync::oneshot;
use treenail_runtime::RpcError;
use treenail_runtime::client::{IncomingHandler, IncomingRequest, Responder};

use crate::backlog::Backlog;
use crate::calls::Calls;
use crate::convert::{params_text, raw, to_jsoncall};
use crate::ids::RequestIds;

/// Handler of a client's session.
pub(super) struct FromServer {
    pub(super) calls: Arc<Calls>,
    pub(super) ids: Arc<RequestIds>,
    pub(super) backlog: Arc<Backlog>,
}

impl FromServer {
    /// Calls the listener. A panic in it must not stop `jsoncall` from reading.
    fn notify_listener(&self, call: impl FnOnce(&dyn IncomingHandler)) {
        let Some(incoming) = self.calls.incoming.get() else {
            return;
        };
        if catch_unwind(AssertUnwindSafe(|| call(&**incoming))).is_err() {
            tracing::error!("the listener of a session panicked");
        }
    }
}

impl Handler for FromServer {
    fn request(
        &mut self,
        method: &str,
        params: Params<'_>,
        cx: RequestContext<'_>,
    ) -> Result<Response> {
        let number = cx.id().to_string();
        let id = self.ids.text(&number).ok_or(ErrorCode::INVALID_REQUEST)?;
        let (sender, response) = oneshot::channel();
        let (backlog, id_bytes) = (Arc::clone(&self.backlog), id.len());
        let responder = Responder::new(move |response: std::result::Result<String, RpcError>| {
            backlog.push_response(id_bytes + response.as_ref().map_or(0, String::len));
            // After the end of the session, no response is needed.
            drop(sender.send(response));
        });
        let params: Option<&RawValue> = params.to_opt()?;
        self.notify_listener(|incoming| {
            let params = params_text(params);
            incoming.request(IncomingRequest::new(&id, method, params, responder));
        });
        let (session, request, ids) = (cx.session(), cx.id().clone(), Arc::clone(&self.ids));
        cx.handle_async(async move {
            match response.await {
                Ok(Ok(result)) => raw(result).ok_or(ErrorCode::INTERNAL_ERROR.into()),
                Ok(Err(error)) => Err(to_jsoncall(error)),
                Err(_) => {
                    // The server cancelled its request.
                    ids.close(&number);
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
        let params: Option<&RawValue> = params.to_opt()?;
        self.notify_listener(|incoming| incoming.notification(method, params_text(params)));
        cx.handle(Ok(()))
    }
}
