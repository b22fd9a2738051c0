//! Error responses to messages that are not handled: they are too long, or too many.

use crate::server::Connection;
use crate::wire::{Body, Message, RpcError, parse, request_id_at_ends, write_error};

impl Connection {
    /// Writes the error response to a message that was too long to be read, given its first and last bytes. The response has the
    /// id of the request if these bytes contain it.
    pub fn reject_oversized(&self, head: &[u8], tail: &[u8], out: &mut Vec<u8>) {
        let limits = self.server.limits();
        let id = request_id_at_ends(head, tail).filter(|id| id.len() <= limits.request_id_bytes);
        write_error(out, id.as_deref(), &oversized(limits.message_bytes));
    }

    /// Writes the error response to a message that exceeds the capacity for calls and for deferred messages.
    pub fn reject_over_capacity(&self, message: &[u8], out: &mut Vec<u8>) {
        let limits = self.server.limits();
        let limit = if self.has_places(1) {
            limits.calls_in_flight
        } else {
            limits.server_calls_in_flight
        };
        let error = RpcError::internal(format!(
            "{limit} calls are in flight already, and as many wait as may"
        ));
        match parse(message, self.server.limits()) {
            Body::One(Ok(Message::Request(id, _))) => write_error(out, Some(id), &error),
            _ => write_error(out, None, &error),
        }
    }
}

/// Returns the error for a message of more than `limit` bytes.
pub fn oversized(limit: usize) -> RpcError {
    RpcError::invalid_request(format!("the message is longer than {limit} bytes"))
}
