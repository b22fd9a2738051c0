//! CORS: requests of pages of other origins, as browsers send them.

use http::HeaderMap;
use serde_json::json;
use treenail::http::{HttpService, SsePaths, http_service};
use treenail::schema::Revision;

use crate::client::{CompleteResponse, Post};
use crate::fixture::{builder, service};
use crate::sockets::{Running, ask};

const PAGE: &str = "https://app.example.com";

fn open() -> HttpService {
    service().allow_cors_origin(PAGE)
}

fn preflight(origin: &str, headers: &str) -> Post {
    Post::raw("")
        .method("OPTIONS")
        .without("content-type")
        .with("origin", origin)
        .with("access-control-request-method", "POST")
        .with("access-control-request-headers", headers)
}

fn add() -> Post {
    Post::tool("add", json!({"a": 2, "b": 3}))
}

/// Returns the values of a header in lower case.
fn list(headers: &HeaderMap, name: &str) -> Vec<String> {
    let values = headers.get_all(name).iter();
    let values = values.flat_map(|value| value.to_str().unwrap().split(','));
    values
        .map(|value| value.trim().to_ascii_lowercase())
        .collect()
}

fn is_exposed(response: &CompleteResponse) {
    assert_eq!(response.header("access-control-allow-origin"), Some(PAGE));
    let exposed = list(&response.headers, "access-control-expose-headers");
    for name in ["mcp-session-id", "www-authenticate"] {
        assert!(exposed.iter().any(|one| one == name), "{exposed:?}");
    }
    assert!(list(&response.headers, "vary").contains(&"origin".to_owned()));
}

#[tokio::test]
async fn pages_of_an_allowed_origin_can_use_the_server() {
    let service = open();
    let wanted = "authorization, content-type, last-event-id, mcp-protocol-version, mcp-session-id, mcp-method, mcp-name, Mcp-Param-Region, x-other, cookie";
    let response = preflight(PAGE, wanted).send(&service).await;
    assert_eq!((response.status.as_u16(), &*response.body), (204, ""));
    is_exposed(&response);
    let allowed = list(&response.headers, "access-control-allow-headers");
    let (ours, others) = wanted.rsplit_once(", x-other").unwrap();
    for name in ours.split(", ") {
        assert!(allowed.contains(&name.to_ascii_lowercase()), "{name}");
    }
    for name in others.split(", ") {
        assert!(!allowed.contains(&name.to_owned()), "{name}");
    }
    assert!(!allowed.contains(&"x-other".to_owned()));
    let methods = list(&response.headers, "access-control-allow-methods");
    assert_eq!(methods, ["get", "post", "delete"]);
    let age: u32 = response
        .header("access-control-max-age")
        .unwrap()
        .parse()
        .unwrap();
    assert!(age > 0);
    let varies = list(&response.headers, "vary");
    assert!(varies.contains(&"access-control-request-headers".to_owned()));
    assert_eq!(response.header("access-control-allow-credentials"), None);
    // An allowed CORS origin also passes the origin check.
    let response = add().with("origin", PAGE).send(&service).await;
    assert_eq!(response.status, 200, "{response:?}");
    is_exposed(&response);
}

#[tokio::test]
async fn errors_and_streams_have_cors_headers() {
    let service = open().legacy_sse(SsePaths::default());
    let no_session = Post::raw(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    let no_session = no_session
        .with("mcp-session-id", "guessed")
        .with("origin", PAGE);
    let response = no_session.send(&service).await;
    assert_eq!(response.status, 404);
    is_exposed(&response);
    let count = Post::tool("count", json!({"to": 2}))
        .change(|body| body["params"]["_meta"]["progressToken"] = 1.into())
        .with("origin", PAGE);
    let response = count.send(&service).await;
    assert_eq!(response.events().len(), 3);
    is_exposed(&response);
    let response = preflight(PAGE, "content-type").at("/messages?sessionId=x");
    is_exposed(&response.send(&service).await);
}

#[tokio::test]
async fn pages_of_other_origins_are_rejected() {
    let service = open();
    for origin in [
        "https://evil.example",
        "https://app.example.com.evil.example",
        "https://app.example.com:8443",
        "http://app.example.com",
        "null",
        "*",
    ] {
        for post in [
            preflight(origin, "mcp-method"),
            add().with("origin", origin),
        ] {
            let response = post.send(&service).await;
            assert_eq!(response.status, 403, "{origin}");
            assert_eq!(response.header("access-control-allow-origin"), None);
        }
    }
    // An origin of this computer passes the origin check, but has no CORS headers.
    let local = "http://localhost:5173";
    let response = preflight(local, "mcp-method").send(&service).await;
    assert_eq!(response.status, 405);
    assert_eq!(response.header("access-control-allow-origin"), None);
    let response = add().with("origin", local).send(&service).await;
    assert_eq!(response.header("access-control-allow-origin"), None);
    assert!(
        list(&response.headers, "vary").contains(&"origin".to_owned()),
        "the response varies by origin, for caches"
    );
    // Two origins are invalid.
    let twice = preflight(PAGE, "mcp-method").and("origin", PAGE);
    let response = twice.send(&service).await;
    assert_eq!(response.header("access-control-allow-origin"), None);
    // The host is checked first.
    let elsewhere = preflight(PAGE, "mcp-method").with("host", "evil.example");
    assert_eq!(elsewhere.send(&service).await.status, 403);
}

#[tokio::test]
async fn cors_is_off_by_default() {
    for service in [service(), service().allow_origin(PAGE)] {
        let response = preflight(PAGE, "mcp-method").send(&service).await;
        assert!(
            matches!(response.status.as_u16(), 403 | 405),
            "{response:?}"
        );
        assert_eq!(response.header("access-control-allow-origin"), None);
        assert_eq!(response.header("vary"), None);
    }
    // Invalid origins are ignored.
    let service = service().allow_cors_origin("*").allow_cors_origin("null");
    for origin in ["*", "null"] {
        let response = preflight(origin, "mcp-method").send(&service).await;
        assert_eq!(response.status, 403, "{origin}");
    }
}

#[tokio::test]
async fn several_origins_can_be_allowed() {
    let service = open().allow_cors_origin("HTTPS://Other.example:443/");
    for origin in [PAGE, "https://other.example"] {
        let response = preflight(origin, "mcp-method").send(&service).await;
        assert_eq!(response.header("access-control-allow-origin"), Some(origin));
    }
}

#[tokio::test]
async fn pages_can_have_sessions_with_a_listener() {
    let server = builder().build().unwrap();
    let http = http_service(server.clone()).bind("127.0.0.1:0");
    let http = http.await.unwrap().allow_cors_origin(PAGE);
    let running = Running::start_http(http, server);
    let response = ask(&running, &preflight(PAGE, "mcp-method"), "/mcp").await;
    assert!(response.starts_with("HTTP/1.1 204 "), "{response}");
    assert!(response.contains("access-control-allow-headers: mcp-method\r\n"));
    let params = json!({
        "protocolVersion": Revision::LATEST_LEGACY.as_str(),
        "capabilities": {},
        "clientInfo": {"name": "page", "version": "1"},
    });
    let begin = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
    let begin = Post::raw(begin.to_string()).with("origin", PAGE);
    let response = ask(&running, &begin, "/mcp").await;
    assert!(response.contains("mcp-session-id: "), "{response}");
    assert!(response.contains(&format!("access-control-allow-origin: {PAGE}\r\n")));
    running.finish().await;
}
