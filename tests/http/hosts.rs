//! Hosts and origins that a bound listener allows.

use serde_json::json;
use treenail::http::{HttpServer, ServeHttp as _};

use crate::client::Post;
use crate::fixture::builder;
use crate::sockets::{Running, ask};

#[tokio::test]
async fn hosts_and_origins_can_be_allowed() {
    type Change = fn(HttpServer) -> HttpServer;
    let add = || Post::tool("add", json!({"a": 2, "b": 3}));
    let host = || add().with("host", "mcp.example.com");
    let page = || add().with("origin", "https://app.example.com");
    let cases: [(Change, [u16; 2]); 5] = [
        (|http| http, [403, 403]),
        (|http| http.allow_host("mcp.example.com"), [200, 403]),
        (HttpServer::allow_any_host, [200, 403]),
        (
            |http| http.allow_origin("https://app.example.com"),
            [403, 200],
        ),
        (HttpServer::allow_any_origin, [403, 200]),
    ];
    for (index, (change, expected)) in cases.into_iter().enumerate() {
        let server = builder().build().unwrap();
        let http = change(server.bind_http("127.0.0.1:0").await.unwrap());
        let running = Running::start_http(http, server);
        for (post, expected) in [host(), page()].into_iter().zip(expected) {
            let response = ask(&running, &post, "/mcp").await;
            let status = format!("HTTP/1.1 {expected} ");
            assert!(response.starts_with(&status), "{index}: {response}");
        }
        running.finish().await;
    }
}
