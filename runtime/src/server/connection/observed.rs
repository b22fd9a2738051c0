//! Requests with an observer.

use std::sync::Arc;

use treenail_schema::{Method, Revision};

use super::Connection;
use crate::server::observe::{
    ObservedRequest, ObservedSession, ObservedTransport, Outcome, ServerObserver,
    SessionObservation,
};
use crate::server::registry::Snapshot;
use crate::server::response::PendingRequest;
use crate::wire::{Envelope, as_string};

impl Connection {
    /// Marks the connection as one over the standard streams of the process.
    pub(crate) fn over_stdio(mut self) -> Self {
        self.transport = ObservedTransport::Stdio;
        self
    }

    /// Handles a request for the observer of the server.
    #[cold]
    pub(super) fn observed_request(
        &mut self,
        (observer, snapshot): (&dyn ServerObserver, &Arc<Snapshot>),
        id: &str,
        envelope: &Envelope<'_>,
        out: &mut Vec<u8>,
    ) -> Option<PendingRequest> {
        let start = out.len();
        let peer = match envelope.params.meta {
            Some(meta) => self.modern.identify(meta).ok().flatten(),
            None => None,
        };
        let peer = peer.or_else(|| self.legacy_peer().map(Arc::clone));
        let mut extensions = self.extensions.clone();
        let revision = peer.map(|peer| peer.revision());
        let request = self.describe(snapshot, id, envelope, revision);
        let Some(observation) = observer.request(&request, &mut extensions) else {
            return self.handle_request(snapshot, id, envelope, out);
        };
        let own = std::mem::replace(&mut self.extensions, extensions);
        let mut outcome = None;
        observation.in_scope(&mut || outcome = self.handle_request(snapshot, id, envelope, out));
        self.extensions = own;
        if let Some(pending) = outcome {
            return Some(pending.with_observation(observation));
        }
        if out.len() == start && envelope.known == Some(Method::SubscriptionsListen) {
            // The response follows at the end of the subscription.
            self.subscriber.observe(id, observation);
            return None;
        }
        observation.end(&Outcome::of_response(&out[start..]));
        None
    }

    fn describe<'a>(
        &'a self,
        snapshot: &Snapshot,
        id: &'a str,
        envelope: &Envelope<'a>,
        revision: Option<Revision>,
    ) -> ObservedRequest<'a> {
        let (method, params) = (envelope.known, &envelope.params);
        let target = match method {
            Some(Method::CallTool | Method::GetPrompt) => params.name,
            Some(Method::ReadResource | Method::Subscribe | Method::Unsubscribe) => {
                params.member("uri").ok().flatten()
            }
            _ => None,
        };
        let target = target.and_then(as_string);
        let is_known = target.as_ref().is_some_and(|name| match method {
            Some(Method::CallTool) => snapshot.has_tool(name),
            Some(Method::GetPrompt) => snapshot.has_prompt(name),
            _ => false,
        });
        ObservedRequest {
            method,
            extension_method: self.server.extension_method(&envelope.method),
            id,
            revision,
            target,
            is_known,
            transport: self.observed_transport(),
            session_id: self.session_id(),
            meta: params.meta,
        }
    }

    /// Observes the session that a handshake has started, in place of an earlier one.
    pub(super) fn observe_session(&mut self, revision: Revision) {
        let observer = self.server.state.observer.as_deref();
        let observer = observer.filter(|observer| observer.is_enabled());
        let observation = observer.map(|observer| {
            let session = ObservedSession {
                revision,
                transport: self.observed_transport(),
            };
            SessionObservation::start(observer, &session)
        });
        self.observation = observation.unwrap_or_default();
    }

    #[cfg(feature = "http-server")]
    fn observed_transport(&self) -> ObservedTransport {
        let parts = self.extensions.get::<http::request::Parts>();
        parts.map_or(self.transport, |parts| http_transport(parts.version))
    }

    #[cfg(not(feature = "http-server"))]
    fn observed_transport(&self) -> ObservedTransport {
        self.transport
    }

    #[cfg(feature = "http-server")]
    fn session_id(&self) -> Option<&str> {
        let parts = self.extensions.get::<http::request::Parts>();
        let header = parts.and_then(|parts| parts.headers.get("mcp-session-id")?.to_str().ok());
        header.or(self.session_id.as_deref())
    }

    #[cfg(not(feature = "http-server"))]
    fn session_id(&self) -> Option<&str> {
        self.session_id.as_deref()
    }
}

/// Marks of the connection of a session over HTTP, whose extensions have no request.
#[cfg(feature = "http-server")]
#[doc(hidden)]
impl Connection {
    /// Marks the connection as one over HTTP.
    #[must_use]
    pub fn over_http(mut self, version: http::Version) -> Self {
        self.transport = http_transport(version);
        self
    }

    /// Sets the id of the session for an observer, if the server has one.
    pub fn set_session_id(&mut self, id: &str) {
        if self.server.state.observer.is_some() {
            self.session_id = Some(id.into());
        }
    }
}

#[cfg(feature = "http-server")]
fn http_transport(version: http::Version) -> ObservedTransport {
    ObservedTransport::Http(match version {
        http::Version::HTTP_2 => "2",
        http::Version::HTTP_3 => "3",
        http::Version::HTTP_10 => "1.0",
        _ => "1.1",
    })
}
