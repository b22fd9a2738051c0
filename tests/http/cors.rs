//! Pages of other origins, as browsers let them ask.

use http::HeaderMap;
use serde_json::json;
use treenail::schema::Revision;
use treenail::{HttpService, SsePaths, http_service};

use crate::client::{Answer, Post};
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

/// The values of a header, in lower case.
fn list(headers: &HeaderMap, name: &str) -> Vec<String> {
    let values = headers.get_all(name).iter();
    let values = values.flat_map(|value| value.to_str().unwrap().split(','));
    values
        .map(|value| value.trim().to_ascii_lowercase())
        .collect()
}

fn is_exposed(answer: &Answer) {
    assert_eq!(answer.header("access-control-allow-origin"), Some(PAGE));
    let exposed = list(&answer.headers, "access-control-expose-headers");
    for name in ["mcp-session-id", "www-authenticate"] {
        assert!(exposed.iter().any(|one| one == name), "{exposed:?}");
    }
    assert!(list(&answer.headers, "vary").contains(&"origin".to_owned()));
}

#[tokio::test]
async fn a_page_of_a_listed_origin_may_ask() {
    let service = open();
    let wanted = "authorization, content-type, last-event-id, mcp-protocol-version, mcp-session-id, mcp-method, mcp-name, Mcp-Param-Region, x-other, cookie";
    let answer = preflight(PAGE, wanted).send(&service).await;
    assert_eq!((answer.status.as_u16(), &*answer.body), (204, ""));
    is_exposed(&answer);
    let allowed = list(&answer.headers, "access-control-allow-headers");
    let (ours, others) = wanted.rsplit_once(", x-other").unwrap();
    for name in ours.split(", ") {
        assert!(allowed.contains(&name.to_ascii_lowercase()), "{name}");
    }
    for name in others.split(", ") {
        assert!(!allowed.contains(&name.to_owned()), "{name}");
    }
    assert!(!allowed.contains(&"x-other".to_owned()));
    let methods = list(&answer.headers, "access-control-allow-methods");
    assert_eq!(methods, ["get", "post", "delete"]);
    let age: u32 = answer
        .header("access-control-max-age")
        .unwrap()
        .parse()
        .unwrap();
    assert!(age > 0);
    let varies = list(&answer.headers, "vary");
    assert!(varies.contains(&"access-control-request-headers".to_owned()));
    assert_eq!(answer.header("access-control-allow-credentials"), None);
    // An allowed origin of CORS is one of the check against other origins too.
    let answer = add().with("origin", PAGE).send(&service).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    is_exposed(&answer);
}

#[tokio::test]
async fn errors_and_streams_can_be_read_too() {
    let service = open().legacy_sse(SsePaths::default());
    let no_session = Post::raw(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    let no_session = no_session
        .with("mcp-session-id", "guessed")
        .with("origin", PAGE);
    let answer = no_session.send(&service).await;
    assert_eq!(answer.status, 404);
    is_exposed(&answer);
    let count = Post::tool("count", json!({"to": 2}))
        .change(|body| body["params"]["_meta"]["progressToken"] = 1.into())
        .with("origin", PAGE);
    let answer = count.send(&service).await;
    assert_eq!(answer.events().len(), 3);
    is_exposed(&answer);
    let answer = preflight(PAGE, "content-type").at("/messages?sessionId=x");
    is_exposed(&answer.send(&service).await);
}

#[tokio::test]
async fn all_other_pages_may_not() {
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
            let answer = post.send(&service).await;
            assert_eq!(answer.status, 403, "{origin}");
            assert_eq!(answer.header("access-control-allow-origin"), None);
        }
    }
    // One of this computer may ask, but is not listed.
    let local = "http://localhost:5173";
    let answer = preflight(local, "mcp-method").send(&service).await;
    assert_eq!(answer.status, 405);
    assert_eq!(answer.header("access-control-allow-origin"), None);
    let answer = add().with("origin", local).send(&service).await;
    assert_eq!(answer.header("access-control-allow-origin"), None);
    assert!(
        list(&answer.headers, "vary").contains(&"origin".to_owned()),
        "caches know that others are answered differently"
    );
    // Two origins are none.
    let twice = preflight(PAGE, "mcp-method").and("origin", PAGE);
    let answer = twice.send(&service).await;
    assert_eq!(answer.header("access-control-allow-origin"), None);
    // The host is checked before.
    let elsewhere = preflight(PAGE, "mcp-method").with("host", "evil.example");
    assert_eq!(elsewhere.send(&service).await.status, 403);
}

#[tokio::test]
async fn no_page_may_unless_it_is_asked_for() {
    for service in [service(), service().allow_origin(PAGE)] {
        let answer = preflight(PAGE, "mcp-method").send(&service).await;
        assert!(matches!(answer.status.as_u16(), 403 | 405), "{answer:?}");
        assert_eq!(answer.header("access-control-allow-origin"), None);
        assert_eq!(answer.header("vary"), None);
    }
    // What is no origin is not listed.
    let service = service().allow_cors_origin("*").allow_cors_origin("null");
    for origin in ["*", "null"] {
        let answer = preflight(origin, "mcp-method").send(&service).await;
        assert_eq!(answer.status, 403, "{origin}");
    }
}

#[tokio::test]
async fn several_origins_each_for_itself() {
    let service = open().allow_cors_origin("HTTPS://Other.example:443/");
    for origin in [PAGE, "https://other.example"] {
        let answer = preflight(origin, "mcp-method").send(&service).await;
        assert_eq!(answer.header("access-control-allow-origin"), Some(origin));
    }
}

#[tokio::test]
async fn a_page_can_have_a_session_at_a_listener() {
    let server = builder().build().unwrap();
    let http = http_service(server.clone()).bind("127.0.0.1:0");
    let http = http.await.unwrap().allow_cors_origin(PAGE);
    let running = Running::start_http(http, server);
    let answer = ask(&running, &preflight(PAGE, "mcp-method"), "/mcp").await;
    assert!(answer.starts_with("HTTP/1.1 204 "), "{answer}");
    assert!(answer.contains("access-control-allow-headers: mcp-method\r\n"));
    let params = json!({
        "protocolVersion": Revision::LATEST_LEGACY.as_str(),
        "capabilities": {},
        "clientInfo": {"name": "page", "version": "1"},
    });
    let begin = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
    let begin = Post::raw(begin.to_string()).with("origin", PAGE);
    let answer = ask(&running, &begin, "/mcp").await;
    assert!(answer.contains("mcp-session-id: "), "{answer}");
    assert!(answer.contains(&format!("access-control-allow-origin: {PAGE}\r\n")));
    running.finish().await;
}
