//! The log of requests, and warnings about slow ones.

use std::pin::pin;
use std::task::{self, Waker};
use std::time::Duration;

use serde_json::json;
use treenail::context::Principal;
use treenail::layer::LogLayer;
use treenail::prelude::*;
use treenail::transport::Handled;

use crate::support::log::Log;
use crate::support::peer::{MODERN, Peer, meta};

/// Echoes a text.
#[mcp_tool]
fn echo(text: String) -> String {
    text
}

/// Sleeps.
#[mcp_tool]
async fn sleep(seconds: u64) {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
}

/// Never waits, and yields only when its budget is used up. Meanwhile the paused clock advances.
#[mcp_tool(timeout = Duration::from_secs(60))]
async fn busy() -> i64 {
    loop {
        // Only its second poll would yield.
        let mut step = pin!(tokio::time::advance(Duration::from_millis(100)));
        let _ = step
            .as_mut()
            .poll(&mut task::Context::from_waker(Waker::noop()));
        tokio::task::coop::consume_budget().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_always_ready_is_slow_too() {
    Log::start();
    let log = LogLayer::new().slow(Duration::from_secs(1));
    let server = treenail::server!().tools(tools![busy]).layer(log);
    let mut peer = Peer::connect(&server.build().unwrap(), MODERN).await;
    peer.call("busy", json!({})).await;
    let lines = Log::take();
    assert!(lines[0].contains("a request is slow"), "{lines:?}");
}

#[tokio::test(start_paused = true)]
async fn requests_are_logged_with_their_outcome() {
    Log::start();
    let log = LogLayer::new().slow(Duration::from_secs(2));
    let server = treenail::server!().tools(tools![echo, sleep]).layer(log);
    let mut connection = server.build().unwrap().connect();
    connection.extensions_mut().insert(Principal::new("ada"));
    let mut handle = |id: u8, method: &str, mut params: Value| {
        for (key, value) in meta(MODERN.as_str()) {
            params["_meta"][key] = value;
        }
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        let handled = connection.handle_message(message.to_string().as_bytes(), &mut Vec::new());
        if let Handled::Pending(pending) = handled {
            Some(pending)
        } else {
            None
        }
    };
    let call = |name: &str, arguments: Value| json!({"name": name, "arguments": arguments});
    for (method, params, expected) in [
        (
            "tools/call",
            call("echo", json!({"text": "a secret"})),
            r#"target="echo" id=Number(1) principal=ada outcome="ok""#,
        ),
        (
            "tools/call",
            call("echo", json!({})),
            r#"outcome="tool_error""#,
        ),
        (
            "tools/call",
            call("none", json!({})),
            r#"target="none" id=Number(1) principal=ada outcome="-32602""#,
        ),
        ("tools/list", json!({}), r#"method="tools/list" target="""#),
    ] {
        if let Some(pending) = handle(1, method, params) {
            pending.await;
        }
        let lines = Log::take();
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert!(
            lines[0].contains("INFO") && lines[0].contains(expected),
            "{lines:?}"
        );
        assert!(!lines[0].contains("secret"));
    }
    let slow = handle(2, "tools/call", call("sleep", json!({"seconds": 3}))).unwrap();
    slow.await;
    let slow = Log::take();
    assert_eq!(slow.len(), 2, "{slow:?}");
    assert!(
        slow[0].contains("WARN") && slow[0].contains("limit=2s"),
        "{slow:?}"
    );
    assert!(slow[1].contains("INFO") && slow[1].contains(r#"outcome="ok""#));
    drop(handle(
        3,
        "tools/call",
        call("sleep", json!({"seconds": 3})),
    ));
    let cancelled = Log::take();
    assert!(
        cancelled[0].contains(r#"outcome="cancelled""#),
        "{cancelled:?}"
    );
}
