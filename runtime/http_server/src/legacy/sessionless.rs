//! Legacy era without sessions: each body is handled on a connection of its own.

use http::StatusCode;
use serde_json::Value;
use treenail_runtime::internal::{Body, Message, ParsedMessage, write_error};
use treenail_runtime::{Connection, Handled, RpcError};
use treenail_schema::error_code::METHOD_NOT_FOUND;
use treenail_schema::{Method, Revision};

use crate::attach_extensions;
use crate::call_permits::{over_capacity, reclaim_call_permits};
use crate::exchange::Exchange;
use crate::legacy::dispatch::{plain_response, request_id};
use crate::legacy::{Legacy, SESSION, no_session};
use crate::response::{RESPONSE_CAPACITY, Rejection, Reply};

impl Legacy<'_> {
    /// Handles a body without a session.
    pub(super) fn handle_alone(self, body: Body<'_>) -> Result<Reply, Rejection> {
        if self.parts.headers.contains_key(SESSION) {
            // The client starts anew, without a session.
            return Err(no_session());
        }
        // Clients of 2025-03-26 and earlier send no version.
        let revision = self.revision.unwrap_or(Revision::V2025_03_26);
        let mut connection = self.server.connect().without_session(revision);
        attach_extensions(&mut connection, self.parts);
        let mut out = Vec::with_capacity(RESPONSE_CAPACITY);
        match body {
            Body::One(message) => {
                let id = request_id(&message);
                let handled = match &message {
                    Ok(Message::Request(_, envelope)) if self.server.begins_call(envelope) => {
                        reclaim_call_permits(&connection, self.sessions, 1);
                        connection.handle_body(Body::One(message), &mut out)
                    }
                    _ => handle_other(&mut connection, message, &mut out),
                };
                respond(connection, (handled, out), id)
            }
            Body::Batch(messages) => {
                if self.server.has_private_items() {
                    let checked = connection.check_batch_scopes(&messages);
                    checked.map_err(|error| {
                        Rejection::with_error(StatusCode::FORBIDDEN, None, error)
                    })?;
                }
                let mut handled = connection.batch(&messages, &mut out, handle_other);
                if let Handled::Deferred(_) = handled {
                    reclaim_call_permits(&connection, self.sessions, connection.deferred_calls());
                    handled = connection.batch(&messages, &mut out, handle_other);
                }
                respond(connection, (handled, out), None)
            }
        }
    }
}

/// Responds to a body. Without an id, it is a batch or a notification.
fn respond(
    mut connection: Connection,
    (handled, out): (Handled, Vec<u8>),
    id: Option<&str>,
) -> Result<Reply, Rejection> {
    match handled {
        Handled::Pending(call) => {
            let exchange = Exchange::new(connection, Some(call.with_buffer(out)), None);
            Ok(exchange.respond(|_| StatusCode::OK))
        }
        Handled::Deferred(_) => Err(over_capacity(id)),
        _ => Ok(Reply::Ready(match connection.next_outgoing() {
            None => plain_response(out, id),
            Some(first) => Exchange::new(connection, None, Some(out)).stream(first),
        })),
    }
}

/// Handles a message that starts no call. The methods that need a session do not exist.
fn handle_other(
    connection: &mut Connection,
    message: ParsedMessage<'_>,
    out: &mut Vec<u8>,
) -> Handled {
    let (id, method) = match &message {
        Ok(Message::Request(id, envelope)) => (*id, envelope.known),
        _ => return connection.on_message(message, out),
    };
    match method {
        Some(Method::SetLevel | Method::Subscribe | Method::Unsubscribe) => {
            let message = "this method needs a session, and this server has none";
            write_error(out, Some(id), &RpcError::new(METHOD_NOT_FOUND, message));
            Handled::Complete
        }
        Some(Method::Initialize) => {
            let handled = connection.on_message(message, out);
            remove_session_capabilities(connection, out);
            handled
        }
        _ => connection.on_message(message, out),
    }
}

/// Removes the capabilities that need a session from the response to `initialize`.
fn remove_session_capabilities(connection: &Connection, response: &mut Vec<u8>) {
    let Ok(mut parsed) = serde_json::from_slice::<Value>(response) else {
        return;
    };
    let Some(Value::Object(capabilities)) = parsed.pointer_mut("/result/capabilities") else {
        return;
    };
    capabilities.remove("logging");
    for feature in ["tools", "prompts", "resources"] {
        if let Some(Value::Object(details)) = capabilities.get_mut(feature) {
            details.remove("listChanged");
            details.remove("subscribe");
        }
    }
    if let Some(Value::Object(extensions)) = capabilities.get_mut("extensions") {
        // Requests do not repeat the capabilities that gated methods need.
        extensions.retain(|id, _| !connection.has_gated_methods(id));
        if extensions.is_empty() {
            capabilities.remove("extensions");
        }
    }
    *response = parsed.to_string().into_bytes();
}
