//! Response to one request: checks of its head, then the handler of its revision.

use std::future::Future;
use std::pin::pin;

use http::header::CONNECTION;
use http::request::Parts;
use http::{HeaderValue, Method, Request, Response, StatusCode, Version};
use http_body::Body;
use treenail_runtime::internal::{self, CachedPeer, parse_with_known_meta};
use treenail_schema::Revision;

use crate::authorize::{Authorized, authorize_request};
use crate::body::{BodyError, discard_body, read_body};
use crate::checks::{check_accept, check_content, check_size};
use crate::cors::add_cors_headers;
use crate::legacy::{Legacy, SseEndpoint, SsePaths, names_session};
use crate::modern::{self, Modern};
use crate::request_headers::RequestHeaders;
use crate::response::{HttpBody, Rejection, Reply};
use crate::service::HttpService;

/// Outcome of the checks of the head of a request.
enum Head<'a> {
    Answered(Response<HttpBody>),
    Sse((&'a SsePaths, SseEndpoint)),
    WithoutBody,
    WithBody,
}

/// Facts about the head of a request, which are needed after its checks.
#[derive(Default)]
struct HeadFacts {
    /// Caller of an authorized request.
    caller: Option<Authorized>,
    /// Revision that the headers name, if it is a supported one.
    revision: Option<Revision>,
    /// True if the connection must close: the body of the request has not arrived, or has no declared length.
    ///
    /// A proxy that determines another body length could take following bytes for a part of this request, or the reverse
    /// (RFC 9112, section 6.1). Closing the connection prevents such request smuggling.
    must_close: bool,
}

impl HttpService {
    /// Responds to a request.
    ///
    /// The block uses the parts of the request in place. Each `async fn` around it would have another copy of them.
    pub(super) fn respond<B: Body>(
        self,
        request: Request<B>,
    ) -> impl Future<Output = Response<HttpBody>> {
        let cors = self.parts().cors.as_ref();
        let origin = cors.map(|cors| cors.allowed_origin(request.headers()));
        let (mut parts, body) = request.into_parts();
        // A connection with later versions is shared by requests.
        let may_close = parts.version <= Version::HTTP_11;
        async move {
            let (mut facts, mut body) = (HeadFacts::default(), pin!(body));
            let head = self.check_head(&mut parts, &mut facts).await;
            if !matches!(head, Ok(Head::Sse(_) | Head::WithBody)) && !body.is_end_stream() {
                let max_bytes = self.parts().server.limits().message_bytes;
                // Boxed, as below.
                let discard = Box::pin(discard_body(&parts, body.as_mut(), max_bytes));
                facts.must_close |= !discard.await;
            }
            let reply = match head {
                Ok(Head::Answered(response)) => Ok(Reply::Ready(response)),
                // Boxed, because it would be the largest part of the future of every request.
                Ok(Head::Sse(paths)) => {
                    let reply = Box::pin(self.handle_sse(parts, body.as_mut(), paths)).await;
                    facts.must_close |= reply.is_err() && !body.is_end_stream();
                    reply
                }
                Ok(Head::WithoutBody) => self.handle_without_body(parts, facts.revision),
                Ok(Head::WithBody) => {
                    let limits = self.parts().server.limits();
                    let timeout = &self.parts().read_timeout;
                    let may_respond = || names_session(&parts.headers);
                    match read_body(body.as_mut(), limits, timeout, may_respond).await {
                        Ok(body) => self.handle_body(parts, facts.revision, &body),
                        Err(error) => {
                            facts.must_close = true;
                            Err(self.reject_body(parts, facts.revision, error))
                        }
                    }
                }
                Err(rejection) => Err(rejection),
            };
            let result = match reply {
                Ok(Reply::Ready(response)) => Ok(response),
                Ok(Reply::Pending(response)) => response.await,
                Err(rejection) => Err(rejection),
            };
            let result = match &facts.caller {
                Some(caller) => self.refuse_scopes(caller, result),
                None => result,
            };
            let mut response = result.unwrap_or_else(Rejection::into_response);
            if let Some(origin) = origin {
                add_cors_headers(&mut response, origin);
            }
            if facts.must_close && may_close {
                close_connection(&mut response);
            }
            response
        }
    }

    /// Checks the head of a request, and notes facts about it.
    async fn check_head(
        &self,
        parts: &mut Parts,
        facts: &mut HeadFacts,
    ) -> Result<Head<'_>, Rejection> {
        let headers = RequestHeaders::read(&parts.headers);
        facts.must_close = headers.transfer_encoding.is_present();
        facts.revision = headers.revision();
        check_size(&headers, self.parts().server.limits().http.header_bytes)?;
        if let Some(response) = self.document(parts)? {
            return Ok(Head::Answered(response));
        }
        self.parts().guard.check(&headers, &parts.uri)?;
        if let Some(response) = self
            .parts()
            .cors
            .as_ref()
            .and_then(|cors| cors.preflight(parts))
        {
            return Ok(Head::Answered(response));
        }
        let content = check_content(&headers);
        let accept = check_accept(&headers, &["application/json", "text/event-stream"]);
        if let Some(authorizer) = &self.parts().authorizer {
            match authorize_request(&**authorizer, parts).await {
                Ok(authorized) => facts.caller = Some(authorized),
                Err(response) => return Ok(Head::Answered(response.map(HttpBody::from))),
            }
        }
        if let Some((paths, endpoint)) = self.sse_endpoint(parts.uri.path()) {
            endpoint.check_method(&parts.method)?;
            if endpoint == SseEndpoint::Messages {
                content?;
            }
            return Ok(Head::Sse((paths, endpoint)));
        }
        match parts.method {
            Method::POST => {
                content?;
                accept?;
                Ok(Head::WithBody)
            }
            Method::GET | Method::DELETE => match facts.revision {
                Some(revision) if revision.is_modern() => Err(self.method_not_allowed()),
                _ if !self.parts().has_sessions => Err(self.method_not_allowed()),
                _ => Ok(Head::WithoutBody),
            },
            _ => Err(self.method_not_allowed()),
        }
    }

    /// Handles a GET or a DELETE, which belong to a session.
    fn handle_without_body(
        &self,
        parts: Parts,
        revision: Option<Revision>,
    ) -> Result<Reply, Rejection> {
        if parts.method == Method::GET {
            check_accept(
                &RequestHeaders::read(&parts.headers),
                &["text/event-stream"],
            )?;
            self.check_scopes(&parts, None)?;
            return self.legacy(parts, revision).get().map(Reply::Ready);
        }
        self.check_scopes(&parts, None)?;
        self.legacy(parts, revision).delete().map(Reply::Ready)
    }

    /// Handles the body of a POST.
    fn handle_body(
        &self,
        parts: Parts,
        revision: Option<Revision>,
        bytes: &[u8],
    ) -> Result<Reply, Rejection> {
        let limits = self.parts().server.limits();
        let has_modern_version = revision.is_some_and(Revision::is_modern);
        let cached = has_modern_version.then(|| self.parts().peer_cache.get());
        let cached = cached.unwrap_or_default();
        let body = parse_with_known_meta(bytes, limits.into(), cached.meta());
        self.check_scopes(&parts, Some(&body))?;
        match body {
            internal::Body::One(Ok(message))
                if has_modern_version || modern::states_version(&message) =>
            {
                self.modern(&cached).handle_message(parts, message)
            }
            internal::Body::One(Err(invalid)) => {
                Err(self.legacy(parts, revision).reject_invalid(invalid))
            }
            internal::Body::Batch(_) if has_modern_version => {
                let message = "batches exist in revision 2025-03-26 only";
                Err(Rejection::new(StatusCode::BAD_REQUEST, message))
            }
            body => self.legacy(parts, revision).post(body),
        }
    }

    fn reject_body(&self, parts: Parts, revision: Option<Revision>, error: BodyError) -> Rejection {
        match error {
            BodyError::TooLong(head) => self.legacy(parts, revision).reject_oversized(&head),
            BodyError::Rejected(rejection) => rejection,
        }
    }

    fn method_not_allowed(&self) -> Rejection {
        Rejection::method_not_allowed(if self.parts().has_sessions {
            "GET, POST, DELETE"
        } else {
            "POST"
        })
    }

    fn modern<'a>(&'a self, cached: &'a CachedPeer) -> Modern<'a> {
        Modern {
            server: &self.parts().server,
            peer_cache: &self.parts().peer_cache,
            cached,
            sessions: &self.parts().sessions,
            stream_permits: &self.parts().stream_permits,
        }
    }

    pub(super) fn legacy(&self, parts: Parts, revision: Option<Revision>) -> Legacy<'_> {
        Legacy {
            server: &self.parts().server,
            sessions: &self.parts().sessions,
            has_sessions: self.parts().has_sessions,
            stream_permits: &self.parts().stream_permits,
            parts,
            revision,
        }
    }
}

/// Closes the connection after a response.
pub(super) fn close_connection(response: &mut Response<HttpBody>) {
    let close = HeaderValue::from_static("close");
    response.headers_mut().insert(CONNECTION, close);
}
