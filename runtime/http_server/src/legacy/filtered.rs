//! Messages that start no call, on a server whose callers see different items: the rules, which are the user's code, run without
//! the lock of the session.

use http::request::Parts;
use treenail_runtime::internal::{Body, Message, ParsedMessage};
use treenail_runtime::{Connection, Handled};
use treenail_schema::Method;

use crate::attach_extensions;
use crate::legacy::session::Session;

/// Handles a message with the caller of its own request.
pub(super) fn handle_filtered(
    session: &Session,
    parts: Parts,
    message: ParsedMessage<'_>,
    out: &mut Vec<u8>,
) -> Handled {
    let mut branch = session.with_connection(Connection::branch);
    attach_extensions(&mut branch, parts);
    handle_filtered_on(session, &mut branch, message, out)
}

/// Handles a message with the caller of a branch.
pub(super) fn handle_filtered_on(
    session: &Session,
    branch: &mut Connection,
    message: ParsedMessage<'_>,
    out: &mut Vec<u8>,
) -> Handled {
    match &message {
        Ok(Message::Request(_, envelope)) if !changes_session(envelope.known) => {
            let handled = branch.on_message(message, out);
            session.with_connection(|connection| connection.renew_caller(branch));
            handled
        }
        Ok(Message::Request(_, envelope)) => {
            branch.prepare(envelope);
            in_session(session, branch, message, out)
        }
        _ => in_session(session, branch, message, out),
    }
}

/// Handles a message on the connection of the session.
fn in_session(
    session: &Session,
    branch: &mut Connection,
    message: ParsedMessage<'_>,
    out: &mut Vec<u8>,
) -> Handled {
    session.with_connection(|connection| {
        connection.adopt_caller(branch);
        connection.renew_caller(branch);
        let handled = connection.handle_body(Body::One(message), out);
        // The next messages of a batch need a finished handshake.
        branch.renew_handshake(connection);
        handled
    })
}

/// Returns true if a request changes the state of its session.
fn changes_session(method: Option<Method>) -> bool {
    matches!(
        method,
        Some(
            Method::Initialize
                | Method::Subscribe
                | Method::Unsubscribe
                | Method::SubscriptionsListen
        )
    )
}
