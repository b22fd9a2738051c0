//! Connections that a transport of the user drives, message by message.

use std::future::{Future, pending, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;

use serde_json::{Value, json};
use treenail::prelude::*;
use treenail::schema::{RequestId, Revision};
use treenail::transport::{Connection, Handled, PendingResponse};
use treenail::{Limits, ServerBuilder};

use crate::support::covering::covering;
use crate::support::peer::{MODERN, initialize, meta};

/// Reports progress without end.
#[mcp_tool]
async fn chatty(cx: &Context) {
    for step in 1_u32.. {
        cx.progress(step).await;
        tokio::task::yield_now().await;
    }
}

/// Reports progress once.
#[mcp_tool]
async fn brief(cx: &Context) -> &'static str {
    cx.progress(1_u32).await;
    tokio::task::yield_now().await;
    "done"
}

/// Never ends.
#[mcp_tool]
async fn never() {
    pending::<()>().await;
}

fn builder() -> ServerBuilder {
    treenail::server!().tools(tools![chatty, brief, never])
}

fn handle(connection: &mut Connection, message: &Value) -> Handled {
    let mut out = Vec::new();
    let handled = connection.handle_message(message.to_string().as_bytes(), &mut out);
    assert_eq!(String::from_utf8(out).unwrap(), "");
    handled
}

fn connect(server: &Server, revision: Revision) -> Connection {
    let mut connection = server.connect();
    if !revision.is_modern() {
        let params = initialize(revision.as_str());
        let request = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
        connection.handle_message(request.to_string().as_bytes(), &mut Vec::new());
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        handle(&mut connection, &initialized);
    }
    connection
}

/// A call of a tool, whose progress token is its id.
fn call(id: i64, name: &str, revision: Revision) -> Value {
    let mut params = json!({"name": name, "_meta": {"progressToken": id}});
    if revision.is_modern() {
        for (key, value) in meta(revision.as_str()) {
            params["_meta"][key] = value;
        }
    }
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
}

fn started(connection: &mut Connection, message: &Value) -> PendingResponse {
    match handle(connection, message) {
        Handled::Pending(response) => response,
        other => panic!("{other:?}"),
    }
}

/// Polls once.
async fn poll_once<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    poll_fn(|context| Poll::Ready(Pin::new(&mut *future).poll(context))).await
}

/// The progress tokens of the messages that are queued.
fn queued(connection: &mut Connection) -> Vec<i64> {
    let messages = std::iter::from_fn(|| connection.next_outgoing());
    let token = |message: Vec<u8>| {
        let message: Value = serde_json::from_slice(&message).unwrap();
        message["params"]["progressToken"].as_i64().unwrap()
    };
    messages.map(token).collect()
}

#[tokio::test]
async fn a_cancelled_call_leaves_no_messages() {
    for revision in covering("SRV-STDIO-05") {
        let mut connection = connect(&builder().build().unwrap(), revision);
        let mut first = started(&mut connection, &call(1, "chatty", revision));
        let mut second = started(&mut connection, &call(2, "chatty", revision));
        for _ in 0..3 {
            assert!(poll_once(&mut first).await.is_pending());
            assert!(poll_once(&mut second).await.is_pending());
        }
        let cancellation = json!({
            "jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1},
        });
        let Handled::Cancelled(id) = handle(&mut connection, &cancellation) else {
            panic!("the call is in flight");
        };
        assert_eq!((first.id(), &id), (Some(&id), &RequestId::Number(1)));
        drop(first);
        let messages = queued(&mut connection);
        assert!(messages.len() >= 3, "{messages:?}");
        assert!(messages.iter().all(|token| *token == 2), "SRV-STDIO-05");
        assert!(poll_once(&mut second).await.is_pending());
        assert_eq!(queued(&mut connection), [2]);
        let mut third = started(&mut connection, &call(3, "brief", revision));
        assert!(poll_once(&mut third).await.is_ready());
        drop(third);
        assert_eq!(queued(&mut connection), [3], "its response follows");
    }
}

#[tokio::test]
async fn calls_that_wait_for_room_in_the_queue_leave_no_messages_either() {
    for revision in covering("SRV-STDIO-05") {
        let limits = Limits::default().queued_messages(4);
        let mut connection = connect(&builder().limits(limits).build().unwrap(), revision);
        let ids = 1..=8;
        let mut start = |id| started(&mut connection, &call(id, "chatty", revision));
        let calls: Vec<_> = ids.clone().map(&mut start).collect();
        for (id, response) in ids.zip(calls) {
            let cancellation = json!({
                "jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id},
            });
            let handled = handle(&mut connection, &cancellation);
            assert!(matches!(handled, Handled::Cancelled(_)), "{handled:?}");
            drop(response);
        }
        assert_eq!(queued(&mut connection), [0; 0], "SRV-STDIO-05");
        let _running = started(&mut connection, &call(9, "chatty", revision));
        assert_eq!(queued(&mut connection), [9]);
    }
}

#[tokio::test]
async fn permits_do_not_replace_the_capacity_of_the_connection() {
    let revision = Revision::V2025_03_26;
    let mut connection = connect(&builder().build().unwrap(), revision);
    let batch = json!([1, 2, 3].map(|id| call(id, "never", revision)));
    connection.set_call_capacity(2);
    for _ in 0..2 {
        let handled = handle(&mut connection, &batch);
        assert!(matches!(handled, Handled::Deferred(None)), "{handled:?}");
        assert_eq!(connection.deferred_calls(), 3, "more than the capacity");
        let permits = connection.call_permits().await;
        connection.set_call_permits(permits);
    }
    connection.set_call_capacity(3);
    assert_eq!(started(&mut connection, &batch).calls(), 3);
    connection.set_call_capacity(0);
    let handled = handle(&mut connection, &call(4, "never", revision));
    assert!(matches!(handled, Handled::Deferred(Some(_))), "{handled:?}");
    assert_eq!(connection.deferred_calls(), 1);
}

#[tokio::test]
async fn a_deferred_message_waits_for_the_calls_of_other_connections() {
    let limits = Limits::default().server_calls_in_flight(1);
    let server = builder().limits(limits).build().unwrap();
    let never = call(1, "never", MODERN);
    let mut connections = [server.connect(), server.connect(), server.connect()];
    let [first, second, third] = &mut connections;
    let running = started(first, &never);
    for connection in [&mut *second, &mut *third] {
        let handled = handle(connection, &never);
        assert!(matches!(handled, Handled::Deferred(Some(_))), "{handled:?}");
    }
    let mut permits = pin!(second.call_permits());
    let mut later = Box::pin(third.call_permits());
    assert!(poll_once(&mut permits).await.is_pending());
    assert!(poll_once(&mut later).await.is_pending());
    drop(running);
    let Poll::Ready(permits) = poll_once(&mut permits).await else {
        panic!("the call of the first connection has ended");
    };
    assert!(poll_once(&mut later).await.is_pending());
    second.set_call_permits(permits);
    let running = started(second, &never);
    assert!(matches!(handle(first, &never), Handled::Deferred(_)));
    drop(running);
    assert!(poll_once(&mut later).await.is_ready(), "released at once");
    drop(started(first, &never));
}
