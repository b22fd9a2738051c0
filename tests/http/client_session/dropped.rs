//! Sessions of the legacy era that are dropped without `close`.

use std::future::Future as _;
use std::pin::pin;
use std::task::{Context, Waker};
use std::thread;

use treenail::client::{HttpSession, Session as _};
use treenail::prelude::*;
use treenail::schema::Revision;

use super::legacy::default_response;
use super::listener::TestSession;
use super::renewal::respond;
use super::scripted_server::ScriptedServer;

#[tokio::test]
async fn the_session_of_a_dropped_client_is_deleted_in_the_background() {
    let mut server = ScriptedServer::new(|received| respond(received, "s-1")).await;
    let builder = McpClient::builder().url(&server.url);
    let client = builder.protocol_version(Revision::V2025_11_25).build();
    drop(client.await.unwrap());
    let deleted = server.next_request_with("DELETE").await;
    let id = deleted.header("mcp-session-id");
    assert_eq!(id, Some("s-1"), "CLI-LHTTP-09");
}

#[tokio::test]
async fn nothing_is_sent_for_a_dropped_session_without_an_id() {
    let mut server = ScriptedServer::new(default_response).await;
    drop(TestSession::connect(&server.url));
    let next = TestSession::connect(&server.url);
    next.initialize().await.unwrap();
    assert_eq!(server.next_request().await.rpc(), "initialize");
}

#[tokio::test]
async fn a_session_can_be_dropped_outside_of_a_runtime() {
    let server = ScriptedServer::new(default_response).await;
    let client = TestSession::legacy(&server.url).await;
    thread::spawn(move || drop(client)).join().unwrap();
}

#[test]
fn a_session_without_an_id_is_closed_without_a_runtime() {
    let session = HttpSession::builder("http://127.0.0.1:9/mcp").build();
    let session = session.unwrap();
    let mut closing = pin!(session.close());
    let polled = closing.as_mut();
    let polled = polled.poll(&mut Context::from_waker(Waker::noop()));
    assert!(polled.is_ready());
}
