//! Error responses to messages that are not handled: they are too long, or too many.

use crate::server::Connection;
use crate::server::response::close_batch;
use crate::wire::{
    Body, IdAtEnds, Invalid, Message, RpcError, id_at_ends, parse, parse_element, shortened,
    write_error,
};

impl Connection {
    /// Writes the error response to an invalid message. An invalid notification is not answered, and neither is an invalid response,
    /// which ends the pending request of the server that has its id.
    pub(super) fn reject_invalid(&self, invalid: &Invalid<'_>, out: &mut Vec<u8>) {
        if invalid.is_notification {
            let reason = shortened(&invalid.error.message);
            return tracing::debug!(%reason, "an invalid notification was ignored");
        }
        let Some(id) = invalid.answered else {
            return write_error(out, invalid.id, &invalid.error);
        };
        let requests = self.outbox.requests();
        requests.reject_response(id, &invalid.error.message);
    }

    /// Writes the error response to a message that was too long to be read, given its first and last bytes. The response has the
    /// id of the request if these bytes contain it. If the message is a response to a pending request, that one ends instead.
    pub fn reject_oversized(&self, head: &[u8], tail: &[u8], out: &mut Vec<u8>) {
        let limits = self.server.limits();
        let IdAtEnds { id, answered, .. } = id_at_ends(head, tail);
        let error = oversized(limits.message_bytes);
        let is_response = answered.is_some_and(|answered| {
            let requests = self.outbox.requests();
            requests.reject_response(answered, &error.message)
        });
        if !is_response {
            let id = id.filter(|id| id.len() <= limits.request_id_bytes);
            write_error(out, id, &error);
        }
    }

    /// Writes the error response to a message that exceeds the capacity for calls and for deferred messages. That of a batch is an
    /// array with one error for each request. Its responses were handled when it was [deferred](super::Handled::Deferred).
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
        match parse(message, limits) {
            Body::One(Ok(Message::Request(id, _))) => write_error(out, Some(id), &error),
            Body::One(_) => write_error(out, None, &error),
            Body::Batch(messages) => self.reject_batch(&messages, &error, out),
        }
    }

    /// Writes `error` as the response to each request of a batch.
    fn reject_batch(&self, messages: &[&str], error: &RpcError, out: &mut Vec<u8>) {
        let mut answers = Vec::new();
        for message in messages {
            let length = answers.len();
            match parse_element(message, self.server.limits()) {
                Ok(Message::Request(id, _)) => write_error(&mut answers, Some(id), error),
                Err(invalid) => self.reject_invalid(&invalid, &mut answers),
                Ok(Message::Notification(_) | Message::Response(..)) => {}
            }
            if answers.len() > length {
                answers.push(b',');
            }
        }
        // A batch is deferred only if it has a call, so there is an answer.
        close_batch(&mut answers);
        out.append(&mut answers);
    }
}

/// Returns the error for a message of more than `limit` bytes.
pub fn oversized(limit: usize) -> RpcError {
    RpcError::invalid_request(format!("the message is longer than {limit} bytes"))
}
