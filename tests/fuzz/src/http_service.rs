//! Streamable HTTP: headers and bodies of any form have a response, and requests from elsewhere are refused.

use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::LazyLock;
use std::task::{Context as TaskContext, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Request, Response, StatusCode};
use http_body::{Body, Frame};
use serde_json::Value;
use tower_service::Service;
use treenail::http::{HttpBody, HttpService, SsePaths, http_service};
use treenail::prelude::*;

use crate::in_memory::run as run_future;

/// Place with values that headers repeat.
#[mcp_type]
struct Place {
    #[schemars(extend("x-mcp-header" = "Region"))]
    region: String,
    #[schemars(extend("x-mcp-header" = "Level"))]
    level: Option<i64>,
}

/// Adds two numbers.
#[mcp_tool]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// Finds a place.
#[mcp_tool]
fn locate(place: Place) -> String {
    format!("{} {:?}", place.region, place.level)
}

/// Reports progress.
#[mcp_tool]
async fn count(cx: &Context, to: u8) -> u8 {
    for step in 0..to {
        cx.progress(step).await;
    }
    to
}

static SERVER: LazyLock<Server> = LazyLock::new(|| {
    let builder = Server::builder("desk", "1.0.0").tools(tools![add, locate, count]);
    builder.build().expect("the server is valid")
});

/// Body that is complete.
struct Text(Option<Bytes>);

impl Body for Text {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut TaskContext<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.take().map(|bytes| Ok(Frame::data(bytes))))
    }
}

/// The bytes 0 separate requests. Each has a line with method and path, lines of headers, an empty line, and a body. `@` is the
/// id of the last session. A service without sessions has the path `/alone`.
pub(crate) fn run(data: &[u8]) {
    let paths = SsePaths::default();
    let mut service = http_service(SERVER.clone()).legacy_sse(paths);
    let mut alone = http_service(SERVER.clone()).without_sessions();
    let mut session = String::new();
    run_future(async {
        for request in data.split(|byte| *byte == 0).take(4) {
            let Ok(text) = std::str::from_utf8(request) else {
                continue;
            };
            let Some(request) = parse(&text.replace('@', &session)) else {
                continue;
            };
            let headers = request.headers().clone();
            let sent = request.body().0.clone().unwrap_or_default();
            let is_alone = request.uri().path() == "/alone";
            let service = if is_alone { &mut alone } else { &mut service };
            let (status, id, answer) = send(service, request).await;
            assert!(!is_alone || id.is_none(), "{text}");
            session = id.unwrap_or(session);
            assert_ne!(status, StatusCode::INTERNAL_SERVER_ERROR, "{text}");
            if status.is_success() {
                assert!(is_local(&headers), "{headers:?}");
                check_headers(&headers, &sent, &answer);
            }
        }
    });
}

fn parse(text: &str) -> Option<Request<Text>> {
    let (head, body) = text.split_once("\n\n").unwrap_or((text, ""));
    let mut lines = head.lines();
    let (method, path) = lines.next()?.split_once(' ')?;
    let mut request = Request::builder().method(method).uri(path);
    for line in lines {
        let (name, value) = line.split_once(':')?;
        request = request.header(name, value.trim());
    }
    let body = Bytes::copy_from_slice(body.as_bytes());
    request.body(Text(Some(body))).ok()
}

/// Returns the status, the id of the session, and the first 64 KiB of the body.
async fn send(
    service: &mut HttpService,
    request: Request<Text>,
) -> (StatusCode, Option<String>, String) {
    let response: Response<HttpBody> = match service.call(request).await {
        Ok(response) => response,
        Err(never) => match never {},
    };
    let (parts, mut body) = response.into_parts();
    let session = parts
        .headers
        .get("mcp-session-id")
        .and_then(|id| id.to_str().ok());
    let mut text = Vec::new();
    let reading = async {
        while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
            let Ok(frame) = frame;
            text.extend_from_slice(&frame.into_data().unwrap_or_default());
            if text.len() > 64 << 10 {
                return;
            }
        }
    };
    // Streams may never end.
    tokio::time::timeout(Duration::from_secs(2), reading)
        .await
        .ok();
    let text = String::from_utf8(text).expect("bodies are text");
    (parts.status, session.map(str::to_owned), text)
}

/// Returns true if a request is for this computer, and from one of its pages or from no page.
fn is_local(headers: &HeaderMap) -> bool {
    let is_local = |host: &str| {
        ["localhost", "127.0.0.1", "[::1]"].iter().any(|local| {
            let head = host.get(..local.len()).unwrap_or_default();
            let port = &host[head.len()..];
            head.eq_ignore_ascii_case(local)
                && (port.is_empty()
                    || port
                        .strip_prefix(':')
                        .is_some_and(|port| port.bytes().all(|it| it.is_ascii_digit())))
        })
    };
    let text = |value: &http::HeaderValue| value.to_str().unwrap_or("?").to_owned();
    let hosts = headers.get_all("host").iter().map(text);
    let origins = headers.get_all("origin").iter().map(text);
    hosts.into_iter().all(|host| is_local(&host))
        && origins.into_iter().all(|origin| {
            let parts = origin.split_once("://");
            parts.is_some_and(|(scheme, host)| {
                ["http", "https"]
                    .iter()
                    .any(|web| web.eq_ignore_ascii_case(scheme))
                    && is_local(host)
            })
        })
}

/// A modern request is answered with a result only if its headers repeat its body.
fn check_headers(headers: &HeaderMap, sent: &[u8], answer: &str) {
    let header = |name| {
        headers
            .get(name)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default()
            .trim()
    };
    let Ok(sent) = serde_json::from_slice::<Value>(sent) else {
        return;
    };
    let version = &sent["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"];
    let has_result =
        serde_json::from_str::<Value>(answer).is_ok_and(|answer| answer.get("result").is_some());
    if *version == "2026-07-28" && has_result && header("mcp-protocol-version") == "2026-07-28" {
        assert_eq!(sent["method"], header("mcp-method"), "{sent}");
        let name = header("mcp-name");
        if sent["method"] == "tools/call" && !name.starts_with("=?") {
            assert_eq!(sent["params"]["name"], name, "{sent}");
        }
        let place = &sent["params"]["arguments"]["place"]["region"];
        let region = header("mcp-param-region");
        if sent["params"]["name"] == "locate" && !region.starts_with("=?") {
            assert_eq!(place.as_str().unwrap_or_default(), region, "{sent}");
        }
    }
}
