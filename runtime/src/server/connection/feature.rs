//! Requests for a tool, a prompt, a resource, a completion, a list or the description of the server.

#[cfg(feature = "tower")]
use std::borrow::Cow;
use std::sync::Arc;

use treenail_schema::Method;

use super::Connection;
use super::request::{Outcome, check_progress_token};
use crate::call::{Call, CallTarget, has_questions};
use crate::extensions::Principal;
use crate::request_id::{CallId, ReceivedId};
#[cfg(feature = "tower")]
use crate::result_writer::ResultWriter;
use crate::revision::Peer;
#[cfg(feature = "tower")]
use crate::server::layer::{LayeredRequest, RequestService, is_layered};
use crate::server::registry::{Route, Snapshot};
#[cfg(feature = "tower")]
use crate::wire::Params;
use crate::wire::{Envelope, RpcError, write_result};

impl Connection {
    /// Handles a request for a tool, a prompt, a resource, a completion, a list or the description of the server.
    #[inline]
    pub(super) fn dispatch_feature(
        &self,
        id: &str,
        (method, envelope): (Method, &Envelope<'_>),
        (peer, snapshot): (&Arc<Peer>, &Arc<Snapshot>),
        out: &mut Vec<u8>,
    ) -> Result<Outcome, RpcError> {
        let params = &envelope.params;
        check_progress_token(params.meta, self.server.limits().progress_token_bytes)?;
        let (state, revision) = (&self.server.state, peer.revision());
        #[cfg(feature = "tower")]
        if let Some(layers) = state.layers.as_ref().filter(|_| is_layered(method)) {
            return self.layered((layers, snapshot), id, (method, params, peer), out);
        }
        match snapshot.route(method, params, revision, &state.config)? {
            Some(Route::Page(page)) => {
                write_result(out, id, |out| out.extend_from_slice(&page));
                Ok(None)
            }
            Some(Route::Function {
                handler,
                name,
                arguments,
            }) => {
                let target = CallTarget {
                    principal: self.extensions.get::<Principal>().map(Principal::as_str),
                    method: Some(method),
                    name: &name,
                    arguments: arguments.as_deref(),
                };
                let resumed = if has_questions(method) && revision.is_modern() {
                    state.elicit_config.resume(target, params)?
                } else {
                    None
                };
                let received = ReceivedId::new(id);
                let call = Call {
                    resumed: resumed.as_ref(),
                    params: params.text,
                    ..self.call(peer, CallId::Received(&received), target, params.meta)
                };
                Ok(self.poll_once(&**handler, &call, out))
            }
            // Extensions have the methods that only one revision has in its core.
            None => self.dispatch_extension(id, envelope, peer, out),
        }
    }

    /// Passes a request to the layers of the server.
    #[cfg(feature = "tower")]
    fn layered(
        &self,
        (layers, snapshot): (&RequestService, &Arc<Snapshot>),
        id: &str,
        (method, params, peer): (Method, &Params<'_>, &Arc<Peer>),
        out: &mut Vec<u8>,
    ) -> Result<Outcome, RpcError> {
        let (state, revision) = (&self.server.state, peer.revision());
        let route = snapshot.route(method, params, revision, &state.config);
        // If there is no such target, the innermost service finds that out again: layers see the request too.
        let (name, arguments) = match route {
            Ok(Some(Route::Function {
                name, arguments, ..
            })) => (name, arguments),
            Ok(_) => (Cow::Borrowed(""), None),
            Err(_) => (params.target(method), params.arguments.map(Cow::Borrowed)),
        };
        let target = CallTarget {
            principal: self.extensions.get::<Principal>().map(Principal::as_str),
            method: Some(method),
            name: &name,
            arguments: arguments.as_deref(),
        };
        // A layer may ask, whether the target exists or not.
        let resumed = if has_questions(method) && revision.is_modern() {
            state.elicit_config.resume(target, params)?
        } else {
            None
        };
        let received = ReceivedId::new(id);
        let call = self.call(peer, CallId::Received(&received), target, params.meta);
        let call = Call {
            resumed: resumed.as_ref(),
            ..call
        };
        let params = params.text.unwrap_or("{}");
        let start = |call: &Call<'_>, _: &mut ResultWriter<'_>| {
            Ok(Some(LayeredRequest::start(layers, snapshot, params, call)))
        };
        Ok(self.poll_once(&start, &call, out))
    }
}
