//! Messages of the server, which are passed on to the peer.

use std::collections::VecDeque;
use std::sync::Arc;

use ::jsoncall::SessionContext;
use serde_json::value::RawValue;
use treenail_runtime::RpcError;
use treenail_runtime::internal::{Body, Envelope, Frame, IdKey, Message, parse};
use treenail_schema::RequestId;

use super::{Bridge, request_id};
use crate::convert::{from_jsoncall, push_response, raw, read_error};

impl Bridge {
    /// Processes one message of the server.
    pub(super) fn on_message(self: &Arc<Self>, frame: &Frame<'_>, session: &SessionContext) {
        let Frame::Line(line) = frame else { return };
        let Body::One(message) = parse(line, &self.internal_limits) else {
            return;
        };
        match message {
            Ok(Message::Response(id, response)) => self.on_response(id, response),
            Ok(Message::Notification(envelope)) => self.on_notification(&envelope, session),
            Ok(Message::Request(id, envelope)) => self.on_request(id, &envelope, session),
            Err(invalid) => {
                tracing::debug!(error = %invalid.error, "ignored an error without a request id");
            }
        }
    }

    fn on_response(&self, id: &str, response: Result<&str, &str>) {
        let id_bytes = id.len();
        let oldest = self.take_pending(&IdKey::of(&id.into()), VecDeque::pop_front);
        let Some(pending) = oldest else { return };
        let response = response.map(str::to_owned).map_err(|error| {
            read_error(error)
                .unwrap_or_else(|| RpcError::internal("the error is not representable"))
        });
        self.count_output(id_bytes + response.as_ref().map_or(0, String::len));
        // The receiver is gone if the request was cancelled.
        drop(pending.response.send(response));
    }

    fn on_notification(&self, envelope: &Envelope<'_>, session: &SessionContext) {
        let params = envelope.params_text();
        if envelope.method == "notifications/cancelled" {
            let server_request =
                request_id(params).and_then(|id| self.state().server_requests.remove(&id));
            if let Some(server_request) = server_request {
                // `jsoncall` sends the cancellation, with its own id.
                server_request.abort();
                return;
            }
        }
        if let Some(params) = raw(params.to_owned()) {
            self.count_output(params.get().len());
            if let Err(error) = session.notification(&envelope.method, Some(&params)) {
                tracing::debug!(%error, "failed to send a notification");
            }
        }
    }

    /// Sends a request of the server to the peer, with an id of `jsoncall`.
    fn on_request(self: &Arc<Self>, id: &str, envelope: &Envelope<'_>, session: &SessionContext) {
        let (Ok(key), Some(params)) = (
            serde_json::from_str::<RequestId>(id),
            raw(envelope.params_text().to_owned()),
        ) else {
            return;
        };
        let (bridge, session) = (Arc::clone(self), session.clone());
        let (id, method) = (id.to_owned(), envelope.method.clone().into_owned());
        // Locked until the entry is inserted, so that the task finds it when it ends.
        let mut state = self.state();
        let key_of_request = key.clone();
        let server_request = tokio::spawn(async move {
            // Here, because a task that is aborted before its first poll sends nothing.
            bridge.count_output(params.get().len());
            let response = session
                .request::<Box<RawValue>>(&method, Some(&params))
                .await;
            let response = response.map_err(|error| match error.error_object() {
                Some(error) => from_jsoncall(error),
                None => RpcError::internal("the connection is closed"),
            });
            bridge.state().server_requests.remove(&key_of_request);
            bridge
                .push_line(|lines| push_response(lines, &id, response.as_ref().map(|it| it.get())));
        });
        state
            .server_requests
            .insert(key, server_request.abort_handle());
    }

    /// Counts a message that the peer has not read yet.
    pub(crate) fn count_output(&self, bytes: usize) {
        if let Some(backlog) = &self.backlog {
            backlog.push(bytes);
        }
    }
}
