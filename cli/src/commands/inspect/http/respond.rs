//! Responses: access, files of the page, and the JSON interface.

use std::time::Duration;

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use hyper::body::Incoming;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::assets;
use super::body::{self, ResponseBody};
use super::guard::Refusal;
use crate::commands::inspect::api::{self, App};

/// Maximum time for the body of a request.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// Headers of every response. Scripts, styles and connections are those of the page only, and no page may embed it.
const HEADERS: [(&str, &str); 7] = [
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; \
         media-src data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
         require-trusted-types-for 'script'; trusted-types 'none'",
    ),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    (
        "permissions-policy",
        "camera=(), geolocation=(), microphone=()",
    ),
    ("referrer-policy", "no-referrer"),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
];

/// Answers a request.
pub(super) async fn respond(app: &App, request: Request<Incoming>) -> Response<ResponseBody> {
    let mut response = answer(app, request).await;
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(
            HeaderName::from_static(name),
            HeaderValue::from_static(value),
        );
    }
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

async fn answer(app: &App, request: Request<Incoming>) -> Response<ResponseBody> {
    let (parts, incoming) = request.into_parts();
    let checked = app.guard.check_source(&parts.method, &parts.headers);
    if let Err(refusal) = checked {
        return refused(refusal);
    }
    let path = parts.uri.path();
    let Some(route) = path.strip_prefix("/api/") else {
        return match assets::find(path) {
            Some(_) if parts.method != Method::GET => {
                failure(StatusCode::METHOD_NOT_ALLOWED, "expected GET")
            }
            Some((kind, text)) => with_type(kind, Bytes::from_static(text.as_bytes())),
            None => failure(StatusCode::NOT_FOUND, "no such page"),
        };
    };
    let needs_token = route != "token";
    if needs_token && let Err(refusal) = app.guard.check_token(&parts.headers) {
        return refused(refusal);
    }
    let Ok(Some(bytes)) = timeout(BODY_TIMEOUT, body::read(incoming)).await else {
        return failure(
            StatusCode::PAYLOAD_TOO_LARGE,
            "the request is too large or too slow",
        );
    };
    let input = if bytes.is_empty() {
        Value::Null
    } else {
        match serde_json::from_slice(&bytes) {
            Ok(input) => input,
            Err(error) => {
                let message = format!("expected JSON: {error}");
                return failure(StatusCode::BAD_REQUEST, &message);
            }
        }
    };
    api::answer(app, (&parts.method, route), input).await
}

fn refused(refusal: Refusal) -> Response<ResponseBody> {
    let (status, message) = match refusal {
        Refusal::Host => (
            StatusCode::FORBIDDEN,
            "unexpected host name; use the URL that `treenail inspect` printed",
        ),
        Refusal::Origin => (StatusCode::FORBIDDEN, "requests of other pages are refused"),
        Refusal::Token => (
            StatusCode::UNAUTHORIZED,
            "missing or invalid token; use the URL that `treenail inspect` printed",
        ),
    };
    failure(status, message)
}

/// Returns a response with a JSON value.
pub(crate) fn json_response(value: &Value) -> Response<ResponseBody> {
    with_type("application/json", Bytes::from(value.to_string()))
}

/// Returns a response with an error message.
pub(crate) fn failure(status: StatusCode, message: &str) -> Response<ResponseBody> {
    let mut response = json_response(&json!({ "error": message }));
    *response.status_mut() = status;
    response
}

fn with_type(kind: &'static str, bytes: Bytes) -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody::from(bytes));
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}
