//! Client of a hostile server: every call of a user ends, and every message to the server is valid.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, duplex, split};
use treenail::McpClient;
use treenail::client::{ClientError, ClientLimits, LineSession};
use treenail_schema::internal::wire::{Body, Message, ParseLimits, parse};

use crate::in_memory::run as run_future;

/// The bytes 0 separate the replies to the messages of the client, in their order. `@` is the id of the message.
pub(crate) fn run(data: &[u8]) {
    let replies: Vec<Vec<u8>> = data.split(|byte| *byte == 0).map(<[u8]>::to_vec).collect();
    run_future(async {
        let (ours, theirs) = duplex(1 << 20);
        tokio::spawn(reply(theirs, replies));
        let (reader, writer) = split(ours);
        let limits = ClientLimits::default().message_bytes(4_000);
        let session = Arc::new(LineSession::with_limits(reader, writer, &limits));
        let using = use_client(session, limits);
        let ended = tokio::time::timeout(Duration::from_secs(86_400), using).await;
        ended.expect("each call ends").ok();
    });
}

async fn reply(stream: DuplexStream, replies: Vec<Vec<u8>>) {
    let (reader, mut writer) = split(stream);
    let mut lines = BufReader::new(reader).lines();
    let mut replies = replies.into_iter();
    while let Ok(Some(line)) = lines.next_line().await {
        let Some(id) = id(&line) else {
            continue;
        };
        // A server without further replies ends.
        let Some(reply) = replies.next() else {
            return;
        };
        let parts: Vec<&[u8]> = reply.split(|byte| *byte == b'@').collect();
        let reply = parts.join(id.as_bytes());
        if writer.write_all(&reply).await.is_err() || writer.write_all(b"\n").await.is_err() {
            return;
        }
    }
}

/// Returns the id of a request of the client, whose messages are all valid.
fn id(line: &str) -> Option<String> {
    let limits = ParseLimits {
        depth: 64,
        id_bytes: 64,
        batch_messages: 1,
    };
    match parse(line.as_bytes(), limits) {
        Body::One(Ok(Message::Request(id, _))) => Some(id.to_owned()),
        Body::One(Ok(_)) => None,
        invalid => panic!("{line}: {invalid:?}"),
    }
}

async fn use_client(session: Arc<LineSession>, limits: ClientLimits) -> Result<(), ClientError> {
    let client = McpClient::builder()
        .limits(limits)
        .session(session)
        .build()
        .await?;
    let called = client.call_tool("add", json!({"a": 1})).await;
    if let Ok(result) = called {
        drop(result.as_text().map(str::to_owned));
    }
    client.tools().await.ok();
    client.prompts().await.ok();
    client.resources().await.ok();
    for template in client.url_templates().await.unwrap_or_default() {
        template.expand(json!({"a": "b/c", "d": [1, "e"]})).ok();
    }
    client.read_resource("a:b").await.ok();
    client.get_prompt("p", json!({"a": "b"})).await.ok();
    if let Ok(contract) = client.contract().await {
        assert!(contract.drift(&contract).is_empty());
    }
    let last = client.call_tool("add", json!({"a": 2})).await;
    if let Err(error) = last {
        let shown = error.to_string();
        assert!(shown.len() < 10_000, "{}", shown.len());
    }
    client.close().await
}
