//! Requests above `Limits::message_bytes` of the server.

use std::sync::Arc;

use serde_json::json;
use tokio::io::{duplex, split};
use treenail::Limits;
use treenail::client::{ClientError, ClientLimits, LineSession, Session};
use treenail::jsoncall::{self, JsoncallSession};
use treenail::prelude::*;
use treenail::schema::Revision;

use crate::fixture::FullServer;

const MESSAGE_BYTES: usize = 100_000;

fn server() -> Server {
    Server::builder("small", "1")
        .mount(FullServer(crate::fixture::Observer::default()))
        .limits(Limits::default().message_bytes(MESSAGE_BYTES))
        .build()
        .unwrap()
}

/// Returns sessions with the server, over each implementation.
fn sessions() -> Vec<Arc<dyn Session>> {
    let limits = ClientLimits::default();
    let ((ours, theirs), (other, peer)) = (duplex(1 << 16), duplex(1 << 16));
    tokio::spawn(async move {
        let (reader, writer) = split(theirs);
        server().serve(reader, writer).await.unwrap();
    });
    tokio::spawn(async move {
        let (reader, writer) = split(peer);
        jsoncall::serve(&server(), reader, writer).await.unwrap();
    });
    let (reader, writer) = split(ours);
    let line = LineSession::with_limits(reader, writer, &limits);
    let (reader, writer) = split(other);
    let over_jsoncall = JsoncallSession::with_limits(reader, writer, &limits);
    vec![Arc::new(line), Arc::new(over_jsoncall)]
}

async fn assert_refused(client: &McpClient) {
    let mut waiting = std::pin::pin!(client.call_tool("wait", ()).into_future());
    let text = "x".repeat(MESSAGE_BYTES);
    let long = client.call_tool("echo", json!({"text": text}));
    let error = tokio::select! {
        _ = &mut waiting => unreachable!("another call is not answered"),
        result = long => result.unwrap_err(),
    };
    let ClientError::Refused(refused) = &error else {
        panic!("SRV-BASE-06: {error:?}");
    };
    assert_eq!(
        (refused.code, &*refused.message),
        (-32600, "the message is longer than 100000 bytes")
    );
    let sum: i64 = client
        .call_tool_as("add", json!({"a": 1, "b": 2}))
        .await
        .unwrap();
    assert_eq!(sum, 3);
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_too_long_is_refused() {
    for revision in [Revision::LATEST, Revision::V2025_11_25] {
        let builder = McpClient::builder().server(&server());
        assert_refused(&builder.protocol_version(revision).build().await.unwrap()).await;
        for session in sessions() {
            let builder = McpClient::builder().session(session);
            assert_refused(&builder.protocol_version(revision).build().await.unwrap()).await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_too_long_names_the_limit() {
    let limits = ClientLimits::default().message_bytes(10_000);
    let builder = McpClient::builder().server(&server()).limits(limits);
    let client = builder.build().await.unwrap();
    let text = "x".repeat(10_000);
    let error = client.call_tool("echo", json!({"text": text})).await;
    let error = error.unwrap_err();
    assert!(matches!(error, ClientError::TooLong(10_000)), "{error:?}");
    assert_eq!(
        error.to_string(),
        "the answer is longer than `ClientLimits::message_bytes` (10000)"
    );
}
