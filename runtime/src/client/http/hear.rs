//! What becomes of a message of the server.

use std::sync::{Arc, Weak};

use tokio::runtime::Handle;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;
use treenail_schema::error_code::PARSE_ERROR;

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
            Body::One(message) => self.hear_one(message, source).await,
            Body::Batch(messages) if source.is_legacy() => {
                let mut answer = None;
                for message in messages {
                    let message = parse_element(message, &limits);
                    answer = self.hear_one(message, source).await.or(answer);
                }
                answer
            }
            Body::Batch(_) => Some(Err(ClientError::protocol("a message is an array"))),
        }
    }

    async fn hear_one(
        self: &Arc<Self>,
        message: Result<Message<'_>, Invalid<'_>>,
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
                tracing::warn!("the server has sent a request, which it cannot in this revision");
                None
            }
            Err(invalid) => refuse(&invalid, source),
        }
    }

    fn hear_answer(&self, id: &str, answer: Result<&str, &str>, source: Source) -> Option<Answer> {
        let id = id.parse().ok();
        if id.is_some() && id == source.own() {
            return Some(read_answer(answer));
        }
        match id {
            Some(id) if source.is_legacy() => self.complete(id, read_answer(answer)),
            _ => tracing::warn!("the server has answered what was not asked"),
        }
        None
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

/// What is to be made of something that is no message: it fails the request that it seems to answer.
fn refuse(invalid: &Invalid<'_>, source: Source) -> Option<Answer> {
    let own = source.own();
    let id = invalid.id.and_then(|id| id.parse().ok());
    if own.is_some() && (id == own || invalid.error.code == PARSE_ERROR) {
        let why = format!("it has sent what is no message: {}", invalid.error.message);
        return Some(Err(ClientError::protocol(why)));
    }
    tracing::warn!(error = %invalid.error, "the server has sent what is no message");
    None
}

fn read_answer(answer: Result<&str, &str>) -> Answer {
    match answer {
        Ok(result) if result.starts_with('{') => Ok(result.to_owned()),
        Ok(_) => Err(ClientError::protocol("a result is not an object")),
        Err(error) => Err(match serde_json::from_str(error) {
            Ok(error) => ClientError::Refused(error),
            Err(_) => ClientError::protocol("an error has no code or no message"),
        }),
    }
}
