//! Streams that no request waits for, and servers that make them expensive.

use serde_json::json;

use super::ears::Dialog;
use super::script::{Script, Told};

#[tokio::test]
async fn endless_informational_responses_end_the_stream() {
    let script = Script::new(|asked| match (&*asked.method, asked.rpc()) {
        (_, "initialize") => Told::result(
            asked,
            &json!({
                "protocolVersion": "2025-11-25", "capabilities": {},
                "serverInfo": {"name": "script", "version": "1"},
            }),
        ),
        ("GET", _) => Told::forever("HTTP/1.1 100 Continue\r\n\r\n"),
        _ => Told::accepted(),
    })
    .await;
    let _dialog = Dialog::legacy(&script.url).await;
    // The client leaves, though the server still has something to say.
    script.left.notified().await;
}
