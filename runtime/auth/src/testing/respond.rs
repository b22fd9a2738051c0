//! Routing of requests, their record, and the faults of responses.

use bytes::Bytes;
use http::header::{CONTENT_TYPE, LOCATION};
use http::{HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use serde_json::{Value, json};

use super::fault::{Endpoint, Fault};
use super::parameters::{Parameters, encode};
use super::record::RecordedRequest;
use super::reply::{Delivery, Failure, empty_response, json_response, redirect_response};
use super::state::Shared;
use super::{authorize, documents, introspect, register, token};

impl Shared {
    /// Records a request and answers it.
    pub(super) fn respond(&self, request: &Request<Bytes>) -> Delivery {
        let endpoint = self.endpoint(request.uri().path());
        let parameters = read_parameters(request);
        let faults = {
            let mut state = self.state();
            state.requests.push(RecordedRequest {
                endpoint,
                method: request.method().clone(),
                target: request.uri().to_string(),
                headers: request.headers().clone(),
                body: String::from_utf8_lossy(request.body()).into_owned(),
                parameters: parameters.clone(),
            });
            state.faults.take(endpoint)
        };
        let mut response = match faults.iter().find_map(replacement) {
            Some(Delivery::Whole(response)) => response,
            Some(delivery) => return delivery,
            None => self.execute(endpoint, request, &parameters),
        };
        for fault in &faults {
            match fault {
                Fault::LoseAnswer(_) => return Delivery::Lost,
                fault => distort(&mut response, fault),
            }
        }
        Delivery::Whole(response)
    }

    /// Returns the endpoint at `path`.
    fn endpoint(&self, path: &str) -> Endpoint {
        let issuer_path = &self.settings.path;
        let after = |prefix: &str| path.strip_prefix(prefix) == Some(issuer_path);
        if after("/.well-known/oauth-authorization-server") {
            return Endpoint::OAuthMetadata;
        }
        if after("/.well-known/openid-configuration") {
            return Endpoint::OpenIdMetadata;
        }
        match path.strip_prefix(issuer_path.as_str()) {
            Some("/.well-known/openid-configuration") => Endpoint::OpenIdMetadata,
            Some("/jwks") => Endpoint::Jwks,
            Some("/authorize") => Endpoint::Authorization,
            Some("/par") => Endpoint::PushedAuthorization,
            Some("/token") => Endpoint::Token,
            Some("/register") => Endpoint::Registration,
            Some("/introspect") => Endpoint::Introspection,
            Some("/revoke") => Endpoint::Revocation,
            _ => Endpoint::Unknown,
        }
    }

    fn execute(
        &self,
        endpoint: Endpoint,
        request: &Request<Bytes>,
        parameters: &Parameters,
    ) -> Response<Bytes> {
        let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
        let is_post = request.method() == Method::POST;
        let allowed = match endpoint {
            Endpoint::OAuthMetadata | Endpoint::OpenIdMetadata | Endpoint::Jwks => is_read,
            Endpoint::Authorization => is_read || is_post,
            _ => is_post,
        };
        let response = match endpoint {
            Endpoint::Unknown => Ok(empty_response(StatusCode::NOT_FOUND)),
            _ if !allowed => Ok(empty_response(StatusCode::METHOD_NOT_ALLOWED)),
            Endpoint::OAuthMetadata | Endpoint::OpenIdMetadata => Ok(documents::metadata(self)),
            Endpoint::Jwks => Ok(documents::jwks(self)),
            Endpoint::Authorization => authorize::authorize(self, parameters),
            Endpoint::PushedAuthorization => authorize::push(self, request, parameters),
            Endpoint::Token => token::respond(self, request, parameters),
            Endpoint::Registration => register::register(self, request.body()),
            Endpoint::Introspection => introspect::introspect(self, request, parameters),
            Endpoint::Revocation => introspect::revoke(self, request, parameters),
        };
        let mut response = response.unwrap_or_else(Response::from);
        if self.settings.requires_nonce {
            let nonce = HeaderValue::from_str(&self.state().nonce);
            let nonce = nonce.unwrap_or(HeaderValue::from_static("nonce"));
            response
                .headers_mut()
                .insert(HeaderName::from_static("dpop-nonce"), nonce);
        }
        response
    }
}

/// Reads the parameters of the query and of a form.
fn read_parameters(request: &Request<Bytes>) -> Parameters {
    let form = request.headers().get(CONTENT_TYPE);
    let is_form = form.is_some_and(|form| {
        let form = form.as_bytes().split(|byte| *byte == b';').next();
        form.is_some_and(|form| form.trim_ascii() == b"application/x-www-form-urlencoded")
    });
    if is_form {
        return Parameters::parse(&String::from_utf8_lossy(request.body()));
    }
    Parameters::parse(request.uri().query().unwrap_or_default())
}

/// Returns the answer of a fault that replaces the execution of a request.
fn replacement(fault: &Fault) -> Option<Delivery> {
    let whole = Delivery::Whole;
    Some(match fault {
        Fault::Status(_, status) => whole(empty_response(*status)),
        Fault::Error(_, code) => whole(injected(StatusCode::BAD_REQUEST, code)),
        Fault::ErrorStatus(_, status, code) => whole(injected(*status, code)),
        Fault::Redirect(_, location) => whole(redirect_response(location)),
        Fault::Body(_, body) => {
            let mut response = json_response(StatusCode::OK, &Value::Null);
            *response.body_mut() = body.clone();
            whole(response)
        }
        Fault::Huge(_, bytes) => Delivery::Huge(*bytes),
        Fault::Slow(_) => Delivery::Slow,
        Fault::Silent(_) => Delivery::Silent,
        _ => return None,
    })
}

fn injected(status: StatusCode, code: &'static str) -> Response<Bytes> {
    let failure = Failure::new(code, "a test asked for this error");
    Failure { status, ..failure }.into()
}

/// Applies a fault to a response.
fn distort(response: &mut Response<Bytes>, fault: &Fault) {
    match fault {
        Fault::Header(_, name, value) => {
            response.headers_mut().insert(name, value.clone());
        }
        Fault::Replace(_, member, value) => edit_json(response, |document| {
            document[*member] = value.clone();
        }),
        Fault::Omit(_, member) => edit_json(response, |document| {
            if let Some(members) = document.as_object_mut() {
                members.shift_remove(*member);
            }
        }),
        Fault::RedirectParameter(name, value) => edit_location(response, |pairs| {
            pairs.retain(|(other, _)| other != name);
            pairs.push(((*name).to_owned(), value.clone()));
        }),
        Fault::OmitRedirectParameter(name) => edit_location(response, |pairs| {
            pairs.retain(|(other, _)| other != name);
        }),
        Fault::DuplicateRedirectParameter(name, value) => edit_location(response, |pairs| {
            pairs.push(((*name).to_owned(), value.clone()));
        }),
        _ => {}
    }
}

fn edit_json(response: &mut Response<Bytes>, edit: impl FnOnce(&mut Value)) {
    let mut document = serde_json::from_slice(response.body()).unwrap_or_else(|_| json!({}));
    edit(&mut document);
    *response.body_mut() = document.to_string().into();
}

fn edit_location(response: &mut Response<Bytes>, edit: impl FnOnce(&mut Vec<(String, String)>)) {
    let location = response.headers().get(LOCATION);
    let Some(location) = location.and_then(|location| location.to_str().ok()) else {
        return;
    };
    let (target, query) = location.split_once('?').unwrap_or((location, ""));
    let mut pairs = Parameters::parse(query).pairs().to_vec();
    edit(&mut pairs);
    *response = redirect_response(&with_query(target, &pairs));
}

/// Appends parameters to a URI.
pub(super) fn with_query(uri: &str, pairs: &[(impl AsRef<str>, impl AsRef<str>)]) -> String {
    let mut uri = uri.to_owned();
    let mut separator = if uri.contains('?') { '&' } else { '?' };
    for (name, value) in pairs {
        uri.push(separator);
        uri.push_str(&encode(name.as_ref()));
        uri.push('=');
        uri.push_str(&encode(value.as_ref()));
        separator = '&';
    }
    uri
}
