//! One request: its peer, its route, and the handler that answers it.

use std::sync::Arc;
use std::task::{self, Poll, Waker};

use treenail_schema::method::Direction;
use treenail_schema::{Method, ProgressToken};

use super::Connection;
use crate::call::{Call, CallTarget, progress_token};
use crate::extension::is_task_method;
use crate::extensions::{Extensions, Principal};
use crate::handler::PendingResult;
use crate::request_id::CallId;
use crate::result_writer::ResultWriter;
use crate::revision::{Peer, read_log_level};
use crate::scope::Access;
use crate::server::Server;
#[cfg(feature = "tower")]
use crate::server::layer::is_layered;
use crate::server::registry::Snapshot;
use crate::server::response::{PendingRequest, write_response};
use crate::server::subscriptions::Audience;
use crate::visibility::Caller;
use crate::wire::{Envelope, RpcError, object, quoted, shortened, write_error, write_result};

/// Outcome of a request: `None` if the response has been written.
pub(super) type Outcome = Option<PendingRequest>;

/// Start of a call: writes its result, or returns the pending result.
type Start<'s> =
    dyn Fn(&Call<'_>, &mut ResultWriter<'_>) -> Result<Option<PendingResult>, RpcError> + 's;

impl Connection {
    /// Handles one request.
    pub(super) fn on_request(
        &mut self,
        id: &str,
        envelope: &Envelope<'_>,
        out: &mut Vec<u8>,
    ) -> Outcome {
        self.outbox.start_call();
        let snapshot = self.snapshot.take(&self.registry);
        let observer = self.server.state.observer.as_ref();
        let outcome = match observer.filter(|observer| observer.is_enabled()) {
            Some(observer) => {
                let observer = Arc::clone(observer);
                self.observed_request((&*observer, &snapshot), id, envelope, out)
            }
            None => self.handle_request(&snapshot, id, envelope, out),
        };
        self.snapshot.retain(snapshot);
        outcome
    }

    pub(super) fn handle_request(
        &mut self,
        snapshot: &Arc<Snapshot>,
        id: &str,
        envelope: &Envelope<'_>,
        out: &mut Vec<u8>,
    ) -> Outcome {
        match self.dispatch(snapshot, id, envelope, out) {
            Ok(outcome) => outcome,
            Err(error) => {
                write_error(out, Some(id), &error);
                None
            }
        }
    }

    fn dispatch(
        &mut self,
        base: &Arc<Snapshot>,
        id: &str,
        envelope: &Envelope<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Outcome, RpcError> {
        let params = &envelope.params;
        params.check()?;
        let meta = object("_meta", params.meta)?;
        let peer = meta.map_or(Ok(None), |meta| self.modern.identify(meta))?;
        let peer = match peer {
            Some(peer) => peer,
            None if envelope.known == Some(Method::Initialize) => {
                self.initialize(base, id, params, out)?;
                return Ok(None);
            }
            None => self.legacy_caller(envelope.known)?,
        };
        let revision = peer.revision();
        let exists = |method: &Method| method.exists(Direction::ClientToServer, revision);
        let Some(method) = envelope.known.filter(exists) else {
            self.check_extension_scopes(base, envelope)?;
            return self.dispatch_extension(id, envelope, &peer, out);
        };
        let view = match &base.views {
            None => None,
            Some(_) if self.prepared.is_some() => self.prepared.take(),
            Some(_) => self.view(base, &peer, envelope),
        };
        let snapshot = view.as_ref().unwrap_or(base);
        let Self {
            server,
            subscriber,
            extensions,
            ..
        } = self;
        if snapshot.requires_scopes {
            check_scopes(extensions, snapshot, envelope)?;
        }
        match method {
            Method::Ping => {}
            Method::SetLevel if snapshot.has_logging() => {
                let level = params
                    .member("level")?
                    .ok_or_else(|| RpcError::invalid_params("`params.level` is missing"))?;
                peer.set_log_level(read_log_level(level)?);
            }
            Method::Subscribe if snapshot.has_subscriptions() => {
                subscriber.subscribe(server, snapshot, params, revision)?;
                subscriber.attend(server, Audience::new(extensions, &peer));
            }
            // Also if the resource has been removed since.
            Method::Unsubscribe
                if !snapshot.changing.is_empty() || snapshot.has_subscriptions() =>
            {
                subscriber.unsubscribe(server, params)?;
            }
            Method::SubscriptionsListen => {
                return self.listen(id, params, &peer, snapshot);
            }
            _ => {
                let request = (method, envelope);
                return self.dispatch_feature(id, request, (&peer, snapshot), out);
            }
        }
        write_result(out, id, |out| out.extend_from_slice(b"{}"));
        Ok(None)
    }

    /// Returns the view of the caller of a request, unless all callers see the same items.
    pub(super) fn view(
        &self,
        snapshot: &Arc<Snapshot>,
        peer: &Peer,
        envelope: &Envelope<'_>,
    ) -> Option<Arc<Snapshot>> {
        // These concern no item, so no rule runs.
        if let Some(Method::Ping | Method::SetLevel | Method::Unsubscribe) = envelope.known {
            return None;
        }
        let caller = Caller::new(&self.extensions, peer);
        let state = &self.server.state;
        // A layer may look up other items in the view.
        #[cfg(feature = "tower")]
        let envelope = state.layers.is_none().then_some(envelope);
        #[cfg(not(feature = "tower"))]
        let envelope = Some(envelope);
        snapshot.view(&caller, envelope, &state.config)
    }

    /// Makes the call of a request.
    pub(super) fn call<'a>(
        &'a self,
        peer: &'a Arc<Peer>,
        id: CallId<'a>,
        target: CallTarget<'a>,
        meta: Option<&'a str>,
    ) -> Call<'a> {
        Call {
            peer,
            id,
            target,
            meta,
            params: None,
            server: &self.server,
            outbox: &self.outbox,
            resumed: None,
            extensions: &self.extensions,
            context: None,
            permit: None,
        }
    }

    /// Runs the handler of a call, and polls its result once.
    ///
    /// Most results are ready then, and need no copy of the id. The task that takes over a pending one polls it again, so no waker is lost.
    pub(super) fn poll_once(
        &self,
        start: &Start<'_>,
        call: &Call<'_>,
        out: &mut Vec<u8>,
    ) -> Outcome {
        let style = self.server.style(call.peer.revision());
        let pending = write_response(out, call.id.text(), style, |result| {
            let Some(mut pending) = start(call, result)? else {
                return Ok(None);
            };
            let mut context = task::Context::from_waker(Waker::noop());
            match pending.poll_result(&mut context, result) {
                Poll::Ready(written) => written.map(|()| None),
                Poll::Pending => Ok(Some(pending)),
            }
        })?;
        Some(PendingRequest::new(call, pending))
    }
}

/// Checks the scopes of a request of an authorized caller, and gives its function the access to them.
pub(super) fn check_scopes(
    extensions: &mut Extensions,
    snapshot: &Snapshot,
    envelope: &Envelope<'_>,
) -> Result<(), RpcError> {
    if let Some(access) = extensions.get::<Access>() {
        let required = snapshot.required_scopes(envelope);
        let refused = |error: &RpcError| log_refusal(extensions, envelope, error);
        #[cfg(feature = "http-server")]
        if is_http(extensions) {
            let access = access.check_request(required).inspect_err(refused)?;
            extensions.insert(access);
            return Ok(());
        }
        let access = access.check(&required).inspect_err(refused)?;
        extensions.insert(access);
    }
    Ok(())
}

/// Logs that a request was refused for missing scopes.
fn log_refusal(extensions: &Extensions, envelope: &Envelope<'_>, error: &RpcError) {
    let principal = extensions.get::<Principal>().map(tracing::field::display);
    let name = envelope.params.name.map(shortened).unwrap_or_default();
    let operation = format!("{} {name}", quoted(&envelope.method));
    tracing::info!(principal, operation, scopes = %error.message, "refused a request");
}

/// Returns true if the request has arrived over HTTP, where each one needs further scopes.
#[cfg(feature = "http-server")]
fn is_http(extensions: &Extensions) -> bool {
    extensions.get::<http::request::Parts>().is_some()
}

/// Rejects a token that is too long, because each progress message of the call repeats it.
pub(super) fn check_progress_token(meta: Option<&str>, most: usize) -> Result<(), RpcError> {
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

impl Server {
    /// Returns `true` if a request runs a function, or passes through layers.
    #[doc(hidden)]
    pub fn begins_call(&self, envelope: &Envelope<'_>) -> bool {
        let Some(method) = envelope.known.filter(|method| !is_task_method(*method)) else {
            return self.extension_method(&envelope.method).is_some();
        };
        #[cfg(feature = "tower")]
        if self.state.layers.is_some() {
            return is_layered(method);
        }
        matches!(
            method,
            Method::CallTool | Method::GetPrompt | Method::ReadResource | Method::Complete
        )
    }
}
