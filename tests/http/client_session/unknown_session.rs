//! Servers that answer requests of a session that they do not know with status 400.

use std::future::IntoFuture as _;
use std::time::Duration;

use serde_json::json;
use tokio::task::JoinSet;
use treenail::client::{ClientError, ClientLimits, HttpClientBuilderExt as _, McpClientSession};
use treenail::schema::Revision;

use super::legacy::default_response;
use super::renewal::start_session;
use super::scripted_server::{Received, Response, ScriptedServer};

const JSON: &str = "content-type: application/json";
const UNKNOWN: &str = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: No valid session ID provided"}}"#;

/// Accepts every message. Sessions have the number of their handshake.
fn accept(received: &Received, handshakes: u32) -> Response {
    match received.rpc() {
        "initialize" => start_session(received, &format!("s-{handshakes}")),
        "tools/list" => Response::result(received, &json!({"tools": []})),
        _ => default_response(received),
    }
}

/// Starts a server that refuses messages for which `refuse` returns a response, and connects to it. `refuse` gets the number of
/// handshakes.
async fn connect(
    refuse: impl FnMut(&Received, u32) -> Option<Response> + Send + 'static,
) -> (ScriptedServer, McpClientSession) {
    connect_with(ClientLimits::default(), refuse).await
}

async fn connect_with(
    limits: ClientLimits,
    mut refuse: impl FnMut(&Received, u32) -> Option<Response> + Send + 'static,
) -> (ScriptedServer, McpClientSession) {
    let mut handshakes = 0;
    let server = ScriptedServer::new(move |received| {
        handshakes += u32::from(received.rpc() == "initialize");
        let refusal = refuse(received, handshakes);
        refusal.unwrap_or_else(|| accept(received, handshakes))
    })
    .await;
    let builder = McpClientSession::builder().url(&*server.url);
    let builder = builder
        .limits(limits)
        .protocol_version(Revision::V2025_11_25);
    let session = builder.build().await.unwrap();
    (server, session)
}

/// Refuses requests in the first of the sessions, except for its handshake.
fn refuse_first(received: &Received, body: &str) -> Option<Response> {
    let is_unknown = received.header("mcp-session-id") == Some("s-1");
    let is_refused = is_unknown && received.body["id"] != json!(null);
    is_refused.then(|| Response::complete(400, JSON, body))
}

/// Returns the methods of the requests that the server has received, with their sessions.
fn requests(server: &mut ScriptedServer) -> Vec<String> {
    let received = std::iter::from_fn(|| server.try_next());
    let requests = received.filter(|one| one.body["id"] != json!(null));
    let named = requests.map(|one| {
        let session = one.header("mcp-session-id").unwrap_or_default();
        format!("{} {session}", one.rpc())
    });
    named.collect()
}

#[tokio::test]
async fn a_session_that_a_server_refuses_with_status_400_is_renewed() {
    for body in [
        UNKNOWN,
        r#"{"error":{"code":-32000,"message":"Bad Request: No valid session ID provided"}}"#,
        r#"{"jsonrpc":"2.0","id":"server-error","error":{"code":-32600,"message":"no session"}}"#,
        "Invalid or missing session ID",
        "",
    ] {
        let (mut server, session) = connect(|received, _| refuse_first(received, body)).await;
        session.tools_list(None).await.expect(body);
        let expected = [
            "initialize ",
            "tools/list s-1",
            "ping s-1",
            "initialize ",
            "tools/list s-2",
        ];
        assert_eq!(requests(&mut server), expected, "{body}");
    }
}

#[tokio::test]
async fn a_request_that_a_server_refuses_in_a_known_session_is_not_repeated() {
    let own = |received: &Received| {
        let error = json!({"code": -32602, "message": "no"});
        json!({"jsonrpc": "2.0", "id": received.body["id"], "error": error}).to_string()
    };
    for (is_own, ping) in [(true, ""), (false, ""), (false, "not supported")] {
        let (mut server, session) = connect(move |received, _| match received.rpc() {
            "tools/list" if is_own => Some(Response::complete(400, JSON, &own(received))),
            "tools/list" => Some(Response::complete(400, JSON, UNKNOWN)),
            "ping" if !ping.is_empty() => Some(Response::complete(400, "", ping)),
            _ => None,
        })
        .await;
        let refused = session.tools_list(None).await.unwrap_err();
        let code = if is_own { -32602 } else { -32000 };
        assert_eq!(refused.as_refused().unwrap().code, code);
        let sent = requests(&mut server);
        let expected = ["initialize ", "tools/list s-1", "ping s-1"];
        assert_eq!(sent, expected[..sent.len()], "{ping}");
        assert_eq!(sent.len() == 2, is_own, "{ping}");
    }
}

/// Refuses requests for tools, and responds to a ping with `ping`.
fn refuse_tools(
    received: &Received,
    body: &str,
    ping: impl FnOnce() -> Response,
) -> Option<Response> {
    match received.rpc() {
        "tools/list" => Some(Response::complete(400, JSON, body)),
        "ping" => Some(ping()),
        _ => None,
    }
}

#[tokio::test]
async fn refusals_are_compared_as_a_whole() {
    let (problem, html) = (
        "content-type: application/problem+json",
        "content-type: text/html",
    );
    let page = |end: &str| format!("<html>{}{end}", " ".repeat(1_000));
    let gzip = "content-type: application/json\r\ncontent-encoding: gzip";
    for (header, request, ping) in [
        (
            problem,
            r#"{"title":"no such tool"}"#.to_owned(),
            r#"{"title":"no such method"}"#.to_owned(),
        ),
        (html, page("tools"), page("ping")),
        (gzip, "compressed".to_owned(), "compressed".to_owned()),
    ] {
        let (mut server, session) = connect(move |received, _| match received.rpc() {
            "tools/list" => Some(Response::complete(400, header, &request)),
            "ping" => Some(Response::complete(400, header, &ping)),
            _ => None,
        })
        .await;
        let refused = session.tools_list(None).await.unwrap_err();
        assert!(
            matches!(refused, ClientError::Http { status: 400, .. }),
            "{refused:?}"
        );
        let expected = ["initialize ", "tools/list s-1", "ping s-1"];
        assert_eq!(requests(&mut server), expected, "{header}");
    }
}

#[tokio::test]
async fn a_ping_without_an_answer_does_not_hide_the_error_of_the_request() {
    let mut held = Vec::new();
    let limits = ClientLimits::default().probe_timeout(Duration::from_millis(1));
    let (_server, session) = connect_with(limits, move |received, _| {
        refuse_tools(received, UNKNOWN, || {
            let (response, end) = Response::accepted().held();
            held.push(end);
            response
        })
    })
    .await;
    let refused = session.tools_list(None).await.unwrap_err();
    assert_eq!(refused.as_refused().unwrap().code, -32000);
}

#[tokio::test]
async fn a_request_that_was_refused_is_not_cancelled_during_the_ping() {
    let mut held = Vec::new();
    let (mut server, session) = connect(move |received, _| {
        refuse_tools(received, UNKNOWN, || {
            let (response, end) = Response::accepted().held();
            held.push(end);
            response
        })
    })
    .await;
    tokio::select! {
        biased;
        list = session.tools_list(None).into_future() => panic!("{list:?}"),
        _ = server.next_request_with("ping") => {}
    }
    session.close().await.unwrap();
    loop {
        let received = server.next_request().await;
        assert_ne!(received.rpc(), "notifications/cancelled");
        if received.method == "DELETE" {
            break;
        }
    }
}

#[tokio::test]
async fn a_server_that_refuses_every_session_is_asked_for_one_more_by_each_request() {
    let (mut server, session) = connect(|received, _| {
        let is_refused = matches!(received.rpc(), "tools/list" | "ping");
        is_refused.then(|| Response::complete(400, JSON, UNKNOWN))
    })
    .await;
    for number in 1..3 {
        let refused = session.tools_list(None).await.unwrap_err();
        assert_eq!(refused.as_refused().unwrap().code, -32000, "{number}");
        let sent = requests(&mut server);
        let handshakes = sent.iter().filter(|sent| *sent == "initialize ").count();
        // That of the connection included.
        assert_eq!(handshakes, if number == 1 { 2 } else { 1 }, "{sent:?}");
    }
}

#[tokio::test]
async fn requests_that_are_refused_together_start_one_session() {
    let (mut server, session) = connect(|received, _| refuse_first(received, UNKNOWN)).await;
    let mut lists = JoinSet::new();
    for _ in 0..8 {
        lists.spawn(session.tools_list(None).into_future());
    }
    for list in lists.join_all().await {
        list.unwrap();
    }
    let sent = requests(&mut server);
    let handshakes = sent.iter().filter(|sent| *sent == "initialize ").count();
    assert_eq!(handshakes, 2, "{sent:?}");
}

#[tokio::test]
async fn a_session_ends_if_its_renewal_fails() {
    let (mut server, session) =
        connect(|received, handshakes| match (received.rpc(), handshakes) {
            ("initialize", 2) => Some(Response::complete(503, "", "")),
            _ => refuse_first(received, UNKNOWN),
        })
        .await;
    let failed = session.tools_list(None).await.unwrap_err();
    assert!(
        matches!(failed, ClientError::Http { status: 503, .. }),
        "{failed:?}"
    );
    session.tools_list(None).await.unwrap();
    let last = requests(&mut server).pop();
    assert_eq!(last.as_deref(), Some("tools/list s-3"));
}
