//! Clients and servers over `jsoncall`: hostile input, and the same features as over other sessions.

mod broken_lines;
mod cancellation;
#[path = "../faults.rs"]
#[allow(
    clippy::duplicate_mod,
    reason = "the same is asked of each kind of session"
)]
mod faults;
mod peer;
mod serving;

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::io::{BufReader, duplex, split};
use treenail::client::{
    ClientLimits, LineSession, Session, SessionNotification, SessionRequest, TransportKind,
};
use treenail::jsoncall::jsoncall::{Session as JsonRpcSession, SessionOptions};
use treenail::jsoncall::{self, JsoncallHandler, JsoncallSession};
use treenail::prelude::*;
use treenail::schema::{ElicitAction, ElicitResult, Revision};

use crate::fixture::server;
use crate::script::{Reply, scripted_over_jsoncall as scripted};

/// Connects a client to a server, both over `jsoncall`.
fn connect(server: &Server) -> Arc<JsoncallSession> {
    let (ours, theirs) = duplex(1 << 16);
    let server = server.clone();
    tokio::spawn(async move {
        let (reader, writer) = split(theirs);
        jsoncall::serve(&server, reader, writer).await.unwrap();
    });
    let (reader, writer) = split(ours);
    Arc::new(JsoncallSession::new(reader, writer))
}

#[tokio::test]
async fn every_client_operation_works_in_every_revision() {
    let (server, observer) = server();
    for revision in Revision::ALL {
        let client = McpClient::builder()
            .session(connect(&server))
            .protocol_version(revision)
            .on_elicit(|_| async {
                let content = json!({"name": "Ada", "nights": 3});
                let result = json!({"action": "accept", "content": content});
                Ok(serde_json::from_value(result).unwrap())
            })
            .build()
            .await
            .unwrap();
        assert_eq!(client.tools().await.unwrap().len(), 7, "{revision}");
        let sum: i64 = client
            .call_tool_as("add", json!({"a": 2, "b": 2}))
            .await
            .unwrap();
        assert_eq!(sum, 4, "{revision}");
        let error = client.call_tool("nothing", ()).await.unwrap_err();
        assert!(error.as_refused().is_some(), "{revision}: {error}");
        let read = client.read_resource("note://today").await.unwrap();
        assert_eq!(read.contents.len(), 1, "{revision}");
        if revision >= Revision::V2025_06_18 {
            let booked: String = client.call_tool_as("book", ()).await.unwrap();
            assert_eq!(booked, "Ada stays 3 nights", "{revision}");
        }

        let waiting = client.call_tool("wait", ());
        let dropped = async {
            observer.started.notified().await;
        };
        tokio::select! {
            _ = waiting => panic!("it never ends"),
            () = dropped => {}
        }
        observer.dropped.notified().await;
        client
            .call_tool("echo", json!({"text": "x"}))
            .await
            .unwrap();
        client.close().await.unwrap();
        client.call_tool("echo", ()).await.unwrap_err();
    }
}

#[tokio::test(start_paused = true)]
async fn progress_arrives_before_the_result() {
    let (server, _) = server();
    for revision in Revision::ALL {
        let builder = McpClientSession::builder().session(connect(&server));
        let session = builder.protocol_version(revision).build().await.unwrap();
        let steps = Arc::new(std::sync::Mutex::new(Vec::new()));
        let sink = Arc::clone(&steps);
        session
            .tools_call("steps", json!({"count": 3}))
            .on_progress(move |progress| sink.lock().unwrap().push(progress.progress.to_string()))
            .await
            .unwrap();
        assert_eq!(*steps.lock().unwrap(), ["1.0", "2.0", "3.0"], "{revision}");
    }
}

#[tokio::test(start_paused = true)]
async fn dropping_a_request_sends_its_own_id() {
    let (session, received) = scripted(|message| match message["method"].as_str() {
        Some("server/discover") => crate::script::discovered(message),
        Some("tools/call") => Reply::nothing(),
        _ => Reply::result(message, &json!({"tools": []})),
    });
    let session = McpClientSession::builder()
        .session(session)
        .build()
        .await
        .unwrap();
    let call = tokio::time::timeout(Duration::from_millis(50), session.tools_call("t", ()));
    call.await.unwrap_err();
    session.tools_list(None).await.unwrap();
    let received = received.all();
    assert_eq!(received[1]["method"], "tools/call");
    assert_eq!(received[2]["method"], "notifications/cancelled");
    assert_eq!(
        received[2]["params"]["requestId"], received[1]["id"],
        "CLI-CANC-01"
    );
}

#[tokio::test]
async fn a_custom_session_can_use_a_server_as_its_handler() {
    let (server, _) = server();
    let (ours, theirs) = duplex(1 << 16);
    let (reader, writer) = split(theirs);
    let handler = JsoncallHandler::new(&server);
    let options = SessionOptions::default();
    let _session = JsonRpcSession::new(handler, BufReader::new(reader), writer, &options);
    let (reader, writer) = split(ours);
    let session = LineSession::with_limits(reader, writer, &ClientLimits::default());
    let client = McpClient::builder()
        .session(Arc::new(session))
        .on_elicit(|_| async { Ok(ElicitResult::new(ElicitAction::Decline)) })
        .protocol_version(Revision::V2025_11_25)
        .build()
        .await
        .unwrap();
    let sum: i64 = client
        .call_tool_as("add", json!({"a": 2, "b": 2}))
        .await
        .unwrap();
    assert_eq!(sum, 4);
    client.call_tool("book", ()).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_custom_session_gets_an_error_after_the_server_has_closed() {
    for is_used_before in [true, false] {
        let (server, _) = server();
        let (ours, theirs) = duplex(1 << 16);
        let (reader, writer) = split(theirs);
        let handler = JsoncallHandler::new(&server);
        let options = SessionOptions::default();
        let _session = JsonRpcSession::new(handler, BufReader::new(reader), writer, &options);
        let (reader, writer) = split(ours);
        let session = LineSession::new(reader, writer);
        let ping = |id| session.request(SessionRequest::new(id, "ping", "{}".to_owned()));
        if is_used_before {
            ping(1).await.unwrap();
        }
        server.close();
        tokio::time::sleep(Duration::from_secs(60)).await;
        for id in 2..5 {
            let notification = SessionNotification::new("notifications/x", "{}".to_owned());
            session.notify(notification).await.unwrap();
            let answer = tokio::time::timeout(Duration::from_secs(60), ping(id)).await;
            let error = answer.expect("the request is answered").unwrap_err();
            let refused = error.as_refused().unwrap();
            assert_eq!(refused.code, -32603);
            assert_eq!(refused.message, "the server is closed");
        }
    }
}

#[tokio::test]
async fn a_child_is_served_and_reaped() {
    let command = treenail::client::ServerCommand::new("sh").args([
        "-c",
        r#"read line; echo '{"jsonrpc":"2.0","id":1,"result":{}}'; cat > /dev/null; exit 3"#,
    ]);
    let session = JsoncallSession::command(&command, &ClientLimits::default()).unwrap();
    assert_eq!(session.transport(), TransportKind::Stdio);
    let request = SessionRequest::new(1, "ping", "{}".to_owned());
    Session::request(&session, request.clone()).await.unwrap();
    Session::close(&session).await.unwrap();
    let error = Session::request(&session, request).await.unwrap_err();
    assert!(
        error.to_string().contains("exited with status 3"),
        "{error}"
    );
}
