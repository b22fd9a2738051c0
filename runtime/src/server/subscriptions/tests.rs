//! Registrations in the hub, and wake-ups of connections.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use crate::server::{Connection, Handled, Server};

/// Counts how often it is woken.
#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

fn server() -> Server {
    Server::builder("test", "1").dynamic().build().unwrap()
}

fn send(connection: &mut Connection, message: &str) -> String {
    let mut out = Vec::new();
    let received = connection.handle_message(message.as_bytes(), &mut out);
    assert!(matches!(received, Handled::Complete), "{received:?}");
    String::from_utf8(out).unwrap()
}

fn listen(connection: &mut Connection, id: &str) {
    let meta = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    let params = format!(r#"{{"notifications":{{"toolsListChanged":true}},"_meta":{meta}}}"#);
    let message = format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"subscriptions/listen","params":{params}}}"#
    );
    assert_eq!(
        send(connection, &message),
        "",
        "its response is sent at its end"
    );
}

fn cancel(connection: &mut Connection, id: &str) {
    let message = format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
    );
    assert_eq!(send(connection, &message), "");
}

/// All that is outgoing now.
fn outgoing(connection: &mut Connection, waker: &Waker) -> Vec<String> {
    let mut messages = Vec::new();
    let mut context = Context::from_waker(waker);
    while let Poll::Ready(message) = connection.poll_outgoing(&mut context) {
        messages.push(String::from_utf8(message).unwrap());
    }
    messages
}

#[test]
fn what_has_ended_leaves_nothing_behind() {
    let server = server();
    let hub = &server.state.hub;
    let mut connections: Vec<_> = (0..3).map(|_| server.connect()).collect();
    assert_eq!(
        hub.len(),
        0,
        "a connection that hears of nothing is not known"
    );
    for connection in &mut connections {
        listen(connection, "1");
        listen(connection, r#""a""#);
        assert!(connection.is_listening());
    }
    assert_eq!(hub.len(), 3);
    // Escapes do not make another id.
    cancel(&mut connections[0], r#""\u0061""#);
    assert_eq!(hub.len(), 3);
    cancel(&mut connections[0], "1");
    assert_eq!(hub.len(), 2);
    assert!(!connections[0].is_listening());
    connections.pop();
    assert_eq!(hub.len(), 1);
    server.close();
    let messages = outgoing(&mut connections[1], Waker::noop());
    assert_eq!(messages.len(), 6, "{messages:?}");
    assert_eq!(hub.len(), 0);
    // A late subscription is closed too.
    listen(&mut connections[0], "2");
    let messages = outgoing(&mut connections[0], Waker::noop());
    assert_eq!(messages.len(), 3, "{messages:?}");
    assert!(messages[1].contains(r#""resultType":"complete""#));
    assert_eq!(hub.len(), 0);
}

#[test]
fn a_legacy_connection_is_known_from_the_end_of_its_handshake_on() {
    let server = server();
    let mut connection = server.connect();
    let client = r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"a","version":"1"}}"#;
    let hello = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{client}}}"#);
    assert!(send(&mut connection, &hello).contains("listChanged"));
    assert_eq!(server.state.hub.len(), 0);
    let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    assert_eq!(send(&mut connection, ready), "");
    assert_eq!(server.state.hub.len(), 1);
    assert!(!connection.is_listening());
    drop(connection);
    assert_eq!(server.state.hub.len(), 0);
}

#[test]
fn a_connection_is_woken_once_for_what_it_has_not_taken() {
    let server = server();
    let mut connection = server.connect();
    let count = Arc::new(Count::default());
    let waker = Waker::from(Arc::clone(&count));
    listen(&mut connection, "1");
    assert_eq!(outgoing(&mut connection, &waker).len(), 1);
    let woken = || count.0.swap(0, Ordering::SeqCst);
    for expected in [1, 0] {
        server.state.hub.publish(&super::Kind::Tools.into());
        assert_eq!(woken(), expected);
    }
    assert_eq!(outgoing(&mut connection, &waker).len(), 1);
    server.state.hub.publish(&super::Kind::Prompts.into());
    server.resource_updated("a://b");
    assert_eq!(woken(), 0, "that is nothing that it has asked for");
    server.close();
    assert_eq!(woken(), 1);
}

#[test]
fn who_waits_for_the_end_of_a_server_is_woken() {
    let server = server();
    let count = Arc::new(Count::default());
    let waker = Waker::from(Arc::clone(&count));
    let mut context = Context::from_waker(&waker);
    let mut closed = pin!(server.closed());
    assert!(closed.as_mut().poll(&mut context).is_pending());
    server.close();
    assert_eq!(count.0.load(Ordering::SeqCst), 1);
    assert!(closed.as_mut().poll(&mut context).is_ready());
}
