//! HTTP requests of the modern era.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

use crate::process::Replica;

/// Maximum wait of a test before it fails.
pub(crate) const TEST_TIMEOUT: Duration = Duration::from_secs(30);

/// Sends a request, and returns the socket with the response.
pub(crate) fn send(replica: &Replica, method: &str, mut params: Value) -> TcpStream {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
    });
    let name = params["name"].as_str();
    let name = name.map_or(String::new(), |name| format!("mcp-name: {name}\r\n"));
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
    let request = format!(
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\n\
         mcp-method: {method}\r\n{name}content-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut socket = TcpStream::connect(replica.address).unwrap();
    socket.set_read_timeout(Some(TEST_TIMEOUT)).unwrap();
    socket.write_all(request.as_bytes()).unwrap();
    socket
}

/// Calls a tool and returns the JSON response.
pub(crate) fn call(replica: &Replica, tool: &str, arguments: Value, more: Value) -> Value {
    let mut params = more;
    params["name"] = tool.into();
    params["arguments"] = arguments;
    let mut answer = String::new();
    let mut socket = send(replica, "tools/call", params);
    socket.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").expect("a response");
    assert!(head.contains("content-type: application/json"), "{answer}");
    serde_json::from_str(body).unwrap()
}
