//! Servers that cause warnings: they are few, and each is one line.

use serde_json::{Value, json};
use treenail::client::ClientLimits;
use treenail::proxy::Remote;

use crate::log::Log;
use crate::script::{Line, scripted};
use crate::station::{LEGACY, gateway};

/// Text of a server that looks like a line of the log.
const FORGED: &str = "a\n WARN forged";

/// Sends requests that belong to no call, then tools whose names are too long.
fn answer_tools(message: &Value, line: &Line) {
    for id in 0..100 {
        line.send(&json!({"jsonrpc": "2.0", "id": id, "method": "roots/list"}));
    }
    let tool = |number| {
        let name = format!("{number}{FORGED}{}", "x".repeat(1_000));
        json!({"name": name, "inputSchema": {"type": "object"}})
    };
    let tools: Vec<_> = (0..100).map(tool).collect();
    line.answer(message, &json!({"tools": tools}));
}

fn hostile() -> Remote {
    Remote::new("script", || {
        let react = |message: &Value, line: &Line| {
            match message["method"].as_str() {
                Some("initialize") => line.answer(
                    message,
                    &json!({
                        "protocolVersion": "2025-11-25",
                        "capabilities": {"tools": {}, "prompts": {}, "resources": {}},
                        "serverInfo": {"name": "script", "version": "1"},
                    }),
                ),
                Some("tools/list") => answer_tools(message, line),
                Some(method) if method.ends_with("/list") => {
                    let error = json!({"code": -32603, "message": FORGED.repeat(100)});
                    line.send(&json!({"jsonrpc": "2.0", "id": message["id"], "error": error}));
                }
                _ => {}
            }
            true
        };
        scripted(Box::new(react), &ClientLimits::default()).protocol_version(LEGACY)
    })
}

#[tokio::test]
async fn a_server_neither_floods_the_log_nor_forges_lines() {
    let (log, _guard) = Log::record(tracing::Level::WARN);
    let (_gateway, proxy) = gateway();
    proxy.mount(hostile()).unwrap().connected().await;
    let lines = log.lines();
    for (text, expected) in [
        ("refused a request of a server", 1),
        ("a list of a server could not be fetched", 1),
        ("omitted a feature of a server", 10),
        ("omitted features of a server", 1),
    ] {
        let count = lines.iter().filter(|line| line.contains(text)).count();
        assert_eq!(count, expected, "{text}: {lines:#?}");
    }
    for line in lines {
        assert!(line.starts_with(" WARN treenail_"), "{line}");
        assert!(line.len() < 600, "{line}");
    }
}
