//! State that the program shares with its server by mounting an `Arc`.

use std::sync::Arc;

use serde_json::json;
use treenail::prelude::*;

use crate::support::peer::{MODERN, Peer, text};

/// State that the program uses as well.
struct Counter(std::sync::Mutex<u32>);

/// Counts.
#[mcp_tool(namespace = "counter")]
impl Counter {
    #[tool]
    fn up(&self) -> u32 {
        let mut count = self.0.lock().unwrap();
        *count += 1;
        *count
    }

    #[prompt]
    fn ask(&self, #[arg(complete = numbers)] by: String) -> String {
        format!("{by} of {}", self.0.lock().unwrap())
    }

    #[resource("count://{of}")]
    fn read(&self, of: String) -> String {
        format!("{of}: {}", self.0.lock().unwrap())
    }
}

fn numbers(_: &str) -> Vec<&'static str> {
    vec!["one"]
}

#[mcp_client(namespace = "shared")]
trait SharedApi {
    async fn count(&self) -> Result<u32, ToolError>;
}

#[mcp_tool]
impl SharedApi for Counter2 {
    async fn count(&self) -> Result<u32, ToolError> {
        Ok(*self.0.0.lock().unwrap())
    }
}

struct Counter2(Arc<Counter>);

#[tokio::test]
async fn shared_state_is_mounted_as_an_arc() {
    let counter = Arc::new(Counter(0.into()));
    let second = Arc::new(Counter2(Arc::clone(&counter)));
    let server = treenail::server!()
        .mount(Arc::clone(&counter))
        .mount(Arc::clone(&second))
        .dynamic()
        .build()
        .unwrap();
    let mut peer = Peer::connect(&server, MODERN).await;
    assert_eq!(text(&peer.call("counter.up", json!({})).await), "1");
    *counter.0.lock().unwrap() = 10;
    assert_eq!(text(&peer.call("counter.up", json!({})).await), "11");
    assert_eq!(text(&peer.call("shared.count", json!({})).await), "11");
    let params = json!({"name": "counter.ask", "arguments": {"by": "a"}});
    let prompt = peer.request("prompts/get", params).await;
    let actual = &prompt["result"]["messages"][0]["content"]["text"];
    assert_eq!(actual, "a of 11");
    let read = peer
        .request("resources/read", json!({"uri": "count://x"}))
        .await;
    assert_eq!(read["result"]["contents"][0]["text"], "x: 11");
    let completed = peer
        .request(
            "completion/complete",
            json!({
                "ref": {"type": "ref/prompt", "name": "counter.ask"},
                "argument": {"name": "by", "value": ""},
            }),
        )
        .await;
    assert_eq!(completed["result"]["completion"]["values"], json!(["one"]));
    let discovered = peer.request("server/discover", json!({})).await;
    assert_eq!(discovered["result"]["instructions"], "Counts.");
    // The type identifies the component, whether it is mounted directly or in an `Arc`.
    let item = treenail::server::Component::mounted::<Counter>();
    server.edit(|edit| edit.remove(item)).unwrap();
    let (code, _) = peer
        .refused("tools/call", json!({"name": "counter.up"}))
        .await;
    assert_eq!(code, -32602);
}
