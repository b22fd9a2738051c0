//! One request: who is asking, what is asked for, and what answers it.

use std::sync::Arc;
use std::task::{self, Poll, Waker};

use treenail_schema::ProgressToken;
use treenail_schema::method::{self, Direction};

use super::Connection;
use crate::ask::Origin;
use crate::call::{Call, progress_token};
use crate::extensions::Principal;
use crate::request_id::{CallId, ReceivedId};
use crate::respond::Handler;
use crate::revision::{Peer, read_log_level};
use crate::server::answer::{PendingRequest, answer, write_error, write_result};
use crate::server::offer::Asked;
use crate::wire::{Envelope, RpcError, object};

/// What became of a request: its answer has been written, or it goes on.
type Answered = Option<PendingRequest>;

impl Connection {
    pub(super) fn request(
        &mut self,
        id: &str,
        envelope: &Envelope<'_>,
        out: &mut Vec<u8>,
    ) -> Answered {
        match self.answer(id, envelope, out) {
            Ok(answered) => answered,
            Err(error) => {
                write_error(out, Some(id), &error);
                None
            }
        }
    }

    fn answer(
        &mut self,
        id: &str,
        envelope: &Envelope<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Answered, RpcError> {
        let params = &envelope.params;
        params.check()?;
        let meta = object("_meta", params.meta)?;
        let peer = meta.map_or(Ok(None), |meta| self.modern.identify(meta))?;
        let peer = match peer {
            Some(peer) => peer,
            None if envelope.method == "initialize" => {
                self.initialize(id, params, out)?;
                return Ok(None);
            }
            None => self.legacy_caller(&envelope.method)?,
        };
        let revision = peer.revision();
        if !method::exists(&envelope.method, Direction::ClientToServer, revision) {
            return Err(RpcError::method_not_found(&envelope.method, revision));
        }
        let Self {
            server,
            offer,
            subscriber,
            ..
        } = self;
        server.shared.offers.refresh(offer);
        match &*envelope.method {
            "ping" => {}
            "logging/setLevel" if offer.logs() => {
                let level = params
                    .member("level")?
                    .ok_or_else(|| RpcError::invalid_params("`params.level` is missing"))?;
                peer.set_log_level(read_log_level(level)?);
            }
            "resources/subscribe" if offer.resources.can_be_subscribed() => {
                subscriber.subscribe(server, offer, params, revision)?;
            }
            // Also if what was subscribed to is not offered any more.
            "resources/unsubscribe" if offer.dynamic || offer.resources.can_be_subscribed() => {
                subscriber.unsubscribe(server, params)?;
            }
            "subscriptions/listen" => {
                subscriber.listen(server, offer, id, params)?;
                return Ok(None);
            }
            "server/discover" => {
                write_result(out, id, |out| {
                    out.extend_from_slice(offer.greeting(revision));
                });
                return Ok(None);
            }
            _ => return self.ask(id, envelope, &peer, out),
        }
        write_result(out, id, |out| out.extend_from_slice(b"{}"));
        Ok(None)
    }

    /// Answers a request for something that the server offers.
    fn ask(
        &self,
        id: &str,
        envelope: &Envelope<'_>,
        peer: &Arc<Peer>,
        out: &mut Vec<u8>,
    ) -> Result<Answered, RpcError> {
        let (method, params) = (&*envelope.method, &envelope.params);
        check_progress_token(params.meta, self.server.limits().progress_token_bytes)?;
        let shared = &self.server.shared;
        let revision = peer.revision();
        match self.offer.find(method, params, revision, &shared.setup)? {
            Some(Asked::Page(page)) => {
                write_result(out, id, |out| out.extend_from_slice(&page));
                Ok(None)
            }
            Some(Asked::Function {
                handler,
                target,
                arguments,
            }) => {
                let origin = Origin {
                    principal: self.extensions.get::<Principal>().map(Principal::as_str),
                    method,
                    target: &target,
                    arguments: arguments.as_deref(),
                };
                let resumed = if peer.revision().is_modern() {
                    shared.asker.resume(&origin, params)?
                } else {
                    None
                };
                let received = ReceivedId::new(id);
                let call = Call {
                    peer,
                    id: CallId::Received(&received),
                    origin,
                    meta: params.meta,
                    server: &self.server,
                    outbox: &self.outbox,
                    resumed: resumed.as_ref(),
                    extensions: &self.extensions,
                    context: None,
                    turn: None,
                };
                Ok(self.handle(handler, &call, out))
            }
            None => Err(RpcError::method_not_found(method, revision)),
        }
    }

    /// Runs the function of a request, and polls it once.
    ///
    /// Most requests are ready then, and need no copy of their id. One that is not is polled again by its next owner, so
    /// no waker is lost.
    fn handle(&self, handler: &Handler, call: &Call<'_>, out: &mut Vec<u8>) -> Answered {
        let revision = call.peer.revision();
        let style = self.server.style(revision);
        let responding = answer(out, call.id.text(), style, |result| {
            let Some(mut responding) = handler(call, result)? else {
                return Ok(None);
            };
            let mut context = task::Context::from_waker(Waker::noop());
            match responding.as_mut().poll_respond(&mut context, result) {
                Poll::Ready(written) => written.map(|()| None),
                Poll::Pending => Ok(Some(responding)),
            }
        })?;
        let id = call.id.shared();
        Some(PendingRequest::new(&self.server, revision, id, responding))
    }
}

/// Refuses a token that is longer than it may be: all that its call tells would be as long.
fn check_progress_token(meta: Option<&str>, most: usize) -> Result<(), RpcError> {
    let Some(meta) = meta.filter(|meta| meta.len() > most) else {
        return Ok(());
    };
    match progress_token(meta) {
        Some(ProgressToken::String(token)) if token.len() > most => Err(RpcError::invalid_params(
            format!("`params._meta.progressToken` is longer than {most} bytes"),
        )),
        _ => Ok(()),
    }
}

/// Whether a request runs a function.
pub(crate) fn begins_call(envelope: &Envelope<'_>) -> bool {
    matches!(
        &*envelope.method,
        "tools/call" | "prompts/get" | "resources/read" | "completion/complete"
    )
}
