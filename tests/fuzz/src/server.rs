//! A server over a byte stream: no bytes end the session, and a request after them has its response.

use std::sync::LazyLock;
use std::time::Duration;

use serde::de::IgnoredAny;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex, split};
use treenail::Limits;
use treenail::prelude::*;

use crate::in_memory::run as run_future;

const VERSIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

struct Shop;

#[mcp_form]
struct Order {
    name: String,
    count: u8,
}

#[mcp_tool]
impl Shop {
    /// Adds two numbers.
    #[tool]
    fn add(a: i64, b: i64) -> i64 {
        a + b
    }

    /// Asks for an order.
    #[tool]
    async fn order(cx: &Context) -> Result<String, AskError> {
        let Order { name, count } = cx.elicit("Which?").await?;
        Ok(format!("{count} {name}"))
    }

    /// Reports progress.
    #[tool]
    async fn count(cx: &Context, to: u8) -> u8 {
        for step in 0..to {
            cx.progress(step).await;
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        to
    }

    /// Shelf of the shop.
    #[resource("shop://shelves/{id}", subscribable)]
    async fn shelf(id: u32) -> String {
        format!("shelf {id}")
    }

    /// Praise of the shop.
    #[prompt]
    fn praise(#[arg(complete = names)] name: String) -> String {
        format!("Praise {name}.")
    }
}

fn names(typed: &str) -> Vec<String> {
    vec![format!("{typed}a"), "b".to_owned()]
}

static SERVER: LazyLock<Server> = LazyLock::new(|| {
    let limits = Limits::default().message_bytes(2_000).calls_in_flight(4);
    let builder = Server::builder("shop", "1.0.0").limits(limits);
    builder.mount(Shop).build().expect("the server is valid")
});

/// The first byte selects the handshake, the second one the size of the pieces. The rest is the input of the server.
pub(crate) fn run(data: &[u8]) {
    let [handshake, piece, stream @ ..] = data else {
        return;
    };
    let mut input = Vec::new();
    if let Some(version) = VERSIONS.get(usize::from(*handshake % 8)) {
        let params = json!({
            "protocolVersion": version, "capabilities": {"elicitation": {}, "sampling": {}},
            "clientInfo": {"name": "fuzz", "version": "1"},
        });
        let initialize =
            json!({"jsonrpc": "2.0", "id": "first", "method": "initialize", "params": params});
        input = format!(
            "{initialize}\n{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}}\n"
        )
        .into_bytes();
    }
    input.extend_from_slice(stream);
    let is_probed = !stream.windows(b"probe".len()).any(|part| part == b"probe");
    let output = run_future(serve(&input, usize::from(*piece) + 1));
    let probes: Vec<Value> = output
        .into_iter()
        .filter(|answer| answer["id"] == "probe")
        .collect();
    if is_probed {
        assert_eq!(probes.len(), 1);
        assert_eq!(probes[0]["result"]["structuredContent"], 5, "{probes:?}");
    }
}

/// Sends the input and a last request. Returns all messages of the server.
async fn serve(input: &[u8], piece: usize) -> Vec<Value> {
    let (ours, theirs) = duplex(1 << 20);
    let (mut reader, mut writer) = split(ours);
    let serving = tokio::spawn(async move {
        let (reader, writer) = split(theirs);
        SERVER.connect().serve(reader, writer).await
    });
    for piece in input.chunks(piece) {
        writer.write_all(piece).await.expect("the server reads");
    }
    // Calls that wait for answers or cancellations end first.
    tokio::time::sleep(Duration::from_secs(7200)).await;
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}});
    let params = json!({"_meta": meta, "name": "add", "arguments": {"a": 2, "b": 3}});
    let probe = json!({"jsonrpc": "2.0", "id": "probe", "method": "tools/call", "params": params});
    let probe = format!("\n{probe}\n");
    writer
        .write_all(probe.as_bytes())
        .await
        .expect("the server reads");
    writer.shutdown().await.expect("the stream is open");
    let mut output = String::new();
    let reading = reader.read_to_string(&mut output);
    let ended = tokio::time::timeout(Duration::from_secs(7200), reading).await;
    ended
        .expect("the session ends")
        .expect("the output is text");
    serving.await.expect("no panic").expect("a good end");
    output.lines().flat_map(messages).collect()
}

/// Returns the messages of a line.
fn messages(line: &str) -> Vec<Value> {
    assert!(serde_json::from_str::<IgnoredAny>(line).is_ok(), "{line}");
    // An id is repeated as it was written, and may have half of a surrogate pair.
    match serde_json::from_str(line).unwrap_or_default() {
        Value::Array(messages) => messages,
        message => vec![message],
    }
}
