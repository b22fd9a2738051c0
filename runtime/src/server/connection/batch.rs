//! Batches, which revision 2025-03-26 alone has.

use treenail_schema::Revision;

use super::request::begins_call;
use super::{Connection, Received};
use crate::server::answer::{PendingAnswer, close_batch, write_error};
use crate::wire::{Invalid, Message, RpcError, parse_element};

impl Connection {
    /// Answers a batch with one array, as revision 2025-03-26 has it.
    pub(super) fn batch(&mut self, messages: &[&str], out: &mut Vec<u8>) -> Received {
        let messages = match self.accept_batch(messages) {
            Ok(messages) => messages,
            Err(error) => {
                write_error(out, None, &error);
                return Received::Done;
            }
        };
        if calls(&messages) > self.room {
            return Received::Held(None);
        }
        let mut answers = Vec::new();
        let mut requests = Vec::new();
        for message in messages {
            let length = answers.len();
            let message = match message {
                Ok(Message::Request(id, envelope)) if envelope.method == "initialize" => {
                    let error = RpcError::invalid_request("`initialize` cannot be part of a batch");
                    Err(Invalid {
                        id: Some(id),
                        error,
                    })
                }
                other => other,
            };
            if let Received::Pending(answer) = self.one(message, &mut answers) {
                requests.append(&mut answer.into_requests());
            }
            if answers.len() > length {
                answers.push(b',');
            }
        }
        if !requests.is_empty() {
            return Received::Pending(PendingAnswer::batch(requests, answers));
        }
        if !answers.is_empty() {
            close_batch(&mut answers);
            out.append(&mut answers);
        }
        Received::Done
    }

    /// The messages of a batch, if this peer may send it.
    fn accept_batch<'a>(
        &self,
        messages: &[&'a str],
    ) -> Result<Vec<Result<Message<'a>, Invalid<'a>>>, RpcError> {
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
        if calls(&messages) > most {
            return Err(RpcError::invalid_request(format!(
                "a batch has at most {most} calls"
            )));
        }
        Ok(messages)
    }
}

/// How many of the messages run a function.
fn calls(messages: &[Result<Message<'_>, Invalid<'_>>]) -> usize {
    let begins = |message: &Result<Message<'_>, Invalid<'_>>| match message {
        Ok(Message::Request(_, envelope)) => begins_call(envelope),
        _ => false,
    };
    messages.iter().filter(|message| begins(message)).count()
}
