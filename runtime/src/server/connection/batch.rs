//! Batches of messages, which only revision 2025-03-26 defines.

use treenail_schema::{Method, RequestId, Revision};

use super::{Connection, Handled};
use crate::revision::stated_version;
use crate::server::response::{PendingResponse, close_batch};
use crate::wire::{Invalid, Message, RpcError, parse_element, write_error};

/// One message of a batch, or its error.
pub type ParsedMessage<'a> = Result<Message<'a>, Invalid<'a>>;

impl Connection {
    /// Handles a batch, whose response is one array. `other` handles the messages that start no call.
    #[doc(hidden)]
    pub fn batch(
        &mut self,
        messages: &[&str],
        out: &mut Vec<u8>,
        other: impl Fn(&mut Self, ParsedMessage<'_>, &mut Vec<u8>) -> Handled,
    ) -> Handled {
        self.cancelled.clear();
        let messages = match self.accept_batch(messages) {
            Ok(messages) => messages,
            Err(error) => {
                write_error(out, None, &error);
                return Handled::Complete;
            }
        };
        let calls = messages
            .iter()
            .filter(|message| self.is_call(message))
            .count();
        if calls > self.room || !self.take_places(calls) {
            self.wanted = calls;
            // A call in flight may wait for them. They are dropped when the batch is handled again.
            for message in &messages {
                if let Ok(Message::Response(id, answer)) = message {
                    other(self, Ok(Message::Response(id, *answer)), &mut Vec::new());
                }
            }
            return Handled::Deferred(None);
        }
        let most_bytes = self.server.limits().batch_response_bytes;
        let mut answers = Vec::new();
        let mut requests = Vec::new();
        for message in messages {
            let length = answers.len();
            let message = admit(message, length, most_bytes);
            let received = if self.is_call(&message) {
                self.on_message(message, &mut answers)
            } else {
                other(self, message, &mut answers)
            };
            match received {
                Handled::Pending(answer) => requests.append(&mut answer.into_requests()),
                Handled::Cancelled(id) => self.cancelled.push(id),
                Handled::Complete | Handled::Deferred(_) | Handled::Restarted => {}
            }
            if answers.len() > length {
                answers.push(b',');
            }
        }
        self.places = None;
        if !requests.is_empty() {
            return Handled::Pending(PendingResponse::batch(requests, answers, most_bytes));
        }
        if !answers.is_empty() {
            close_batch(&mut answers);
            out.append(&mut answers);
        }
        Handled::Complete
    }

    /// Takes the requests that the last batch has cancelled. They are not requests of the batch.
    #[doc(hidden)]
    pub fn take_cancelled(&mut self) -> Vec<RequestId> {
        std::mem::take(&mut self.cancelled)
    }

    /// Parses the messages of a batch, if this peer may send it.
    fn accept_batch<'a>(&self, messages: &[&'a str]) -> Result<Vec<ParsedMessage<'a>>, RpcError> {
        let limits = self.server.limits();
        match self.legacy_peer() {
            Some(peer) if peer.revision() == Revision::V2025_03_26 => {}
            _ => {
                return Err(RpcError::invalid_request(
                    "batches belong to revision 2025-03-26 only",
                ));
            }
        }
        let most = limits.batch_messages;
        if messages.is_empty() {
            return Err(RpcError::invalid_request(
                "a batch has at least one message",
            ));
        }
        if messages.len() > most {
            return Err(RpcError::invalid_request(format!(
                "a batch has at most {most} messages"
            )));
        }
        let messages: Vec<_> = messages
            .iter()
            .map(|message| parse_element(message, limits))
            .collect();
        let most = limits.calls_in_flight.max(1);
        let most = most.min(self.server.calls().most_at_once());
        if messages
            .iter()
            .filter(|message| self.is_call(message))
            .count()
            > most
        {
            return Err(RpcError::invalid_request(format!(
                "a batch has at most {most} calls"
            )));
        }
        Ok(messages)
    }

    /// Returns `true` if a message starts a call.
    fn is_call(&self, message: &ParsedMessage<'_>) -> bool {
        matches!(message, Ok(Message::Request(_, envelope)) if self.server.begins_call(envelope))
    }
}

/// Refuses a request that cannot be part of a batch, or whose predecessors have responses of more than `most` bytes already.
fn admit(message: ParsedMessage<'_>, bytes: usize, most: usize) -> ParsedMessage<'_> {
    let error = match &message {
        Ok(Message::Request(_, envelope)) if envelope.known == Some(Method::Initialize) => {
            RpcError::invalid_request("`initialize` cannot be part of a batch")
        }
        Ok(Message::Request(_, envelope))
            if envelope
                .params
                .meta
                .is_some_and(|meta| stated_version(meta).is_some()) =>
        {
            RpcError::invalid_request("a batch has requests of revision 2025-03-26 only")
        }
        Ok(Message::Request(..)) if bytes > most => RpcError::internal(format!(
            "the request was not handled, because the other responses of its batch take more than {most} bytes"
        )),
        _ => return message,
    };
    match message {
        Ok(Message::Request(id, _)) => Err(Invalid {
            id: Some(id),
            answered: None,
            is_unread: false,
            is_notification: false,
            error: Box::new(error),
        }),
        other => other,
    }
}
