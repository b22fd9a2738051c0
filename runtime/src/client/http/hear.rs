//! What becomes of a message of the server.

use std::sync::{Arc, Weak};

use tokio::runtime::Handle;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;
use treenail_schema::error_code::PARSE_ERROR;

use crate::client::answers::{answered_id, id_at_ends, read_answer};
use crate::client::http::legacy::Standing;
use crate::client::http::message;
use crate::client::http::shared::{Answer, Shared};
use crate::client::{ClientError, IncomingRequest, Responder};
use crate::wire::{Body, Envelope, Invalid, Message, RpcError, parse, parse_element};

/// Where a message has come from.
#[derive(Clone, Copy, Debug)]
pub(super) enum Source {
    /// The response to the request of this id.
    Modern(i64),
    /// The same in the legacy era, where servers ask, and may answer other requests too.
    Legacy(i64),
    /// A stream of the legacy era that belongs to no request.
    Background,
}

impl Source {
    fn own(self) -> Option<i64> {
        match self {
            Self::Modern(id) | Self::Legacy(id) => Some(id),
            Self::Background => None,
        }
    }

    fn is_legacy(self) -> bool {
        !matches!(self, Self::Modern(_))
    }
}

impl Shared {
    /// Passes a message on to whom it concerns; the answer to the request that the source belongs to comes back, as does
    /// the error if the message is none.
    pub(super) async fn hear(self: &Arc<Self>, bytes: &[u8], source: Source) -> Option<Answer> {
        let limits = self.limits.parsing();
        match parse(bytes, &limits) {
            Body::One(message) => self.hear_one(message, bytes, source).await,
            Body::Batch(messages) if source.is_legacy() => {
                let mut answer = None;
                for message in messages {
                    let text = message.as_bytes();
                    let message = parse_element(message, &limits);
                    answer = self.hear_one(message, text, source).await.or(answer);
                }
                answer
            }
            Body::Batch(_) => Some(Err(ClientError::protocol("a message is an array"))),
        }
    }

    async fn hear_one(
        self: &Arc<Self>,
        message: Result<Message<'_>, Invalid<'_>>,
        text: &[u8],
        source: Source,
    ) -> Option<Answer> {
        match message {
            Ok(Message::Response(id, answer)) => self.hear_answer(id, answer, source),
            Ok(Message::Notification(envelope)) => {
                if let Some(incoming) = self.incoming() {
                    let params = envelope.params.text.unwrap_or("{}");
                    incoming.notification(&envelope.method, params);
                }
                None
            }
            Ok(Message::Request(id, envelope)) if source.is_legacy() => {
                self.hear_question(id, envelope).await;
                None
            }
            Ok(Message::Request(..)) => {
                self.warn("the server has sent a request, which it cannot in this revision");
                None
            }
            Err(invalid) => self.refuse(&invalid, text, source),
        }
    }

    fn hear_answer(&self, id: &str, answer: Result<&str, &str>, source: Source) -> Option<Answer> {
        let id = id.parse().ok();
        if id.is_some() && id == source.own() {
            return Some(read_answer(answer, &self.limits));
        }
        match id {
            Some(id) if source.is_legacy() => self.complete(id, read_answer(answer, &self.limits)),
            _ => self.warn("the server has answered what was not asked"),
        }
        None
    }

    /// Warns of a message, unless there was a warning a short time ago.
    fn warn(&self, what: &'static str) {
        if self.warned.is_due() {
            tracing::warn!("{what}");
        }
    }

    /// Passes on a request of the server, once there is room for its answer.
    async fn hear_question(self: &Arc<Self>, id: &str, envelope: Envelope<'_>) {
        let Ok(turn) = Arc::clone(&self.questions).acquire_owned().await else {
            return;
        };
        let reply = Reply {
            id: id.into(),
            standing: self.standing(None),
            // Whoever keeps the responder does not keep the session.
            session: Arc::downgrade(self),
            turn,
        };
        let runtime = Handle::current();
        let responder = Responder::new(move |answer| {
            runtime.spawn(reply.send(answer));
        });
        let Some(incoming) = self.incoming() else {
            responder.respond(Err(RpcError::new(
                treenail_schema::error_code::METHOD_NOT_FOUND,
                "nobody answers requests here",
            )));
            return;
        };
        let params = envelope.params.text.unwrap_or("{}");
        let request = IncomingRequest::new(id, &envelope.method, params, responder);
        incoming.request(request);
    }
}

/// Where the answer to a request of the server goes.
struct Reply {
    id: Box<str>,
    standing: Standing,
    session: Weak<Shared>,
    turn: OwnedSemaphorePermit,
}

impl Reply {
    async fn send(self, answer: Result<String, RpcError>) {
        let Some(session) = self.session.upgrade() else {
            return;
        };
        let body = message::answer(&self.id, answer);
        let sent = timeout(
            session.limits.request_timeout,
            session.deliver(&self.standing, body),
        );
        match session.while_open(sent).await {
            Some(Ok(Ok(()))) | None => {}
            Some(Ok(Err(error))) => tracing::warn!(%error, "an answer has not reached the server"),
            Some(Err(_)) => tracing::warn!("the server does not take an answer"),
        }
        drop(self.turn);
    }
}

impl Shared {
    /// Drops a text that is no message. It fails the request that it seems to answer: that of its own response, or, on a
    /// stream of the legacy era, the one whose id it has.
    fn refuse(&self, invalid: &Invalid<'_>, text: &[u8], source: Source) -> Option<Answer> {
        let why = || {
            let why = &invalid.error.message;
            ClientError::protocol(format!("it has sent what is no message: {why}"))
        };
        let own = source.own();
        let id = invalid.id.and_then(|id| id.parse().ok());
        let id = id.or_else(|| answered_id(text));
        if own.is_some() && (id == own || invalid.error.code == PARSE_ERROR) {
            return Some(Err(why()));
        }
        match id {
            Some(id) if source.is_legacy() => self.complete(id, Err(why())),
            _ => self.stray.note(text, &invalid.error),
        }
        None
    }

    /// Drops a message that is too long, of which only the beginning is known.
    pub(super) fn reject_oversized(&self, head: &[u8]) {
        let most = self.limits.message_bytes;
        let why = format!("a message has more than {most} bytes");
        match id_at_ends(head, b"") {
            Some(id) => self.complete(id, Err(ClientError::protocol(why))),
            None => self.stray.note(head, &RpcError::invalid_request(why)),
        }
    }
}
