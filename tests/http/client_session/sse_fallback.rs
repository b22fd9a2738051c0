//! Errors of `initialize` that may be those of a server of 2024-11-05, and its absence.

use serde_json::json;
use treenail::client::{ClientError, Session};

use super::listener::{TestSession, initialize, legacy};
use super::scripted_server::{Response, ScriptedServer};

#[tokio::test]
async fn without_http_sse_the_error_is_that_of_the_post() {
    let answers: [fn() -> Response; 4] = [
        || Response::complete(405, "", ""),
        || Response::stream("data: {}\n\n"),
        || Response::complete(200, "content-type: application/json", "{}"),
        || Response::complete(200, "content-type: text/html", "x"),
    ];
    for answer in answers {
        let server = ScriptedServer::new(move |received| match &*received.method {
            "GET" => answer(),
            _ => Response::complete(404, "content-type: text/plain", "no such page"),
        })
        .await;
        let error = TestSession::connect(&server.url)
            .send(initialize())
            .await
            .unwrap_err();
        let shown = matches!(&error, ClientError::Http { status: 404, body, .. } if **body == *"no such page");
        assert!(shown, "{error:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_without_an_endpoint_does_not_hide_the_error() {
    for has_head in [true, false] {
        let mut held: Vec<Box<dyn Send>> = Vec::new();
        let server = ScriptedServer::new(move |received| match &*received.method {
            "GET" if has_head => {
                let (response, more) = Response::open_stream(": x\n\n");
                held.push(Box::new(more));
                response
            }
            "GET" => {
                let (response, more) = Response::stream("").held();
                held.push(Box::new(more));
                response
            }
            _ => Response::complete(400, "content-type: text/plain", "X-Api-Key is missing"),
        });
        let server = server.await;
        let client = TestSession::connect(&server.url);
        let error = client.send(initialize()).await.unwrap_err();
        let is_shown = error.to_string().contains("X-Api-Key");
        assert!(is_shown, "CLI-ERA-11: {error}");
    }
}

#[tokio::test]
async fn a_stream_that_needs_other_credentials_is_the_error() {
    const CHALLENGE: &str = r#"www-authenticate: Bearer scope="a""#;
    let server = ScriptedServer::new(|received| match &*received.method {
        "GET" => Response::complete(401, CHALLENGE, ""),
        _ => Response::complete(405, "", ""),
    })
    .await;
    let refused = TestSession::connect(&server.url).send(initialize()).await;
    let Err(ClientError::Unauthorized(error)) = refused else {
        panic!("CLI-ERA-11: {refused:?}");
    };
    assert_eq!(error.status, 401);
    assert!(error.to_string().contains("401"), "{error}");
}

#[tokio::test]
async fn other_errors_do_not_suggest_http_sse() {
    let error = r#"{"jsonrpc":"2.0","id":0,"error":{"code":-32600,"message":"no"}}"#;
    for (status, body) in [(400, error), (401, ""), (403, ""), (500, ""), (307, "")] {
        let mut server = ScriptedServer::new(move |_| Response::complete(status, "", body)).await;
        let client = TestSession::connect(&server.url);
        client.send(initialize()).await.unwrap_err();
        // The server receives no GET, only the next request.
        client.send(legacy(1, "x", &json!({}))).await.unwrap_err();
        assert_eq!(server.next_request().await.rpc(), "initialize");
        assert_eq!(
            server.next_request().await.rpc(),
            "x",
            "CLI-ERA-11: {status}"
        );
        client.session.close().await.unwrap();
    }
}
