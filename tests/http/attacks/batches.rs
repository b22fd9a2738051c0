//! Batches with too many messages, too many calls, or too large a response.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use treenail::dynamic::Tool;
use treenail::http::ServeHttp as _;
use treenail::prelude::*;
use treenail::{RpcError, Server};

use super::process::Attacked;
use super::sessions::Session;
use super::wire::{Good, body, call, statuses, until};
use crate::sockets::text;

#[tokio::test]
async fn batches_are_bounded() {
    let attacked = Attacked::start(&json!({}));
    let good = Good::start(attacked.address);
    let session = Session::start(attacked.address).await;
    good.is_served().await;
    let message = |id: usize, tool: &str| {
        let params = json!({"name": tool, "arguments": {"a": 2, "b": 3}});
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
    };
    let memory = attacked.memory();
    let whole: Vec<_> = (0..128).map(|id| message(id, "add")).collect();
    let response = session.ask(&session.post(&json!(whole))).await;
    assert_eq!(statuses(&response), [200]);
    assert_eq!(body(&response).as_array().unwrap().len(), 128);
    let over: Vec<_> = (0..129).map(|id| message(id, "hit")).collect();
    let millions = vec![0; 2_000_000];
    for batch in [json!(over), json!(millions), json!([])] {
        let response = session.ask(&session.post(&batch)).await;
        assert_eq!(statuses(&response), [400]);
        assert_eq!(body(&response)["error"]["code"], -32600);
    }
    assert_eq!(call(attacked.address, "hits", json!({})).await, 0);
    memory.check(3 * (4 << 20), "one growing message buffer");
    // Two batches contain as many calls as a session may have in flight. Each call counts.
    for batch in 1..=2 {
        let sleeping: Vec<_> = (0..128)
            .map(|id| {
                let params = json!({"name": "sleep", "arguments": {}});
                json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
            })
            .collect();
        let mut socket = TcpStream::connect(attacked.address).await.unwrap();
        let post = text(&session.post(&json!(sleeping)), "/mcp");
        socket.write_all(post.as_bytes()).await.unwrap();
        until(attacked.address, "running", batch * 128).await;
    }
    let response = session.ask(&session.tool(1_000, "hit")).await;
    assert_eq!(
        statuses(&response),
        [503],
        "`Limits::calls_in_flight`: {response}"
    );
    good.finish().await;
}

/// Tools with results of 100 KB.
struct Large(Arc<AtomicUsize>);

#[mcp_tool]
impl Large {
    #[tool]
    fn ready(&self) -> String {
        self.0.fetch_add(1, Ordering::Relaxed);
        "x".repeat(100_000)
    }

    #[tool]
    async fn late(&self) -> String {
        tokio::task::yield_now().await;
        self.ready()
    }
}

/// Makes a server with a list of 1 MB.
fn large(calls: &Arc<AtomicUsize>) -> Server {
    let mut builder = Server::builder("large", "1").mount(Large(Arc::clone(calls)));
    for number in 0..900 {
        let tool = Tool::new(format!("tool-{number}")).description("d".repeat(1_000));
        builder = builder.add(tool.raw(|_, _| async { Err(RpcError::internal("unused")) }));
    }
    builder.build().unwrap()
}

#[tokio::test]
async fn the_response_to_a_batch_is_bounded() {
    let calls = Arc::default();
    let server = large(&calls);
    let http = server.bind_http("127.0.0.1:0").await.unwrap();
    let address = http.local_addr();
    let serving = tokio::spawn(http.serve());
    let session = Session::start(address).await;
    for (method, params, runs) in [
        ("tools/list", json!({}), 0..=0),
        // Calls after the bound are not started. Those that were started already end.
        ("tools/call", json!({"name": "ready"}), 40..=50),
        ("tools/call", json!({"name": "late"}), 128..=128),
    ] {
        let message =
            |id: usize| json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        let batch: Vec<_> = (0..128).map(message).collect();
        let response = session.ask(&session.post(&json!(batch))).await;
        assert!(response.len() < 8 << 20, "{method}: {}", response.len());
        let answers = body(&response);
        let answers = answers.as_array().unwrap();
        let mut ids: Vec<_> = answers
            .iter()
            .map(|it| it["id"].as_u64().unwrap())
            .collect();
        ids.sort_unstable();
        assert!(ids.into_iter().eq(0..128), "each is answered once");
        let (complete, refused): (Vec<_>, Vec<_>) =
            answers.iter().partition(|it| it.get("result").is_some());
        assert!(complete.len() >= 4, "{method}: {} results", complete.len());
        let codes: Vec<_> = refused.iter().map(|it| &it["error"]["code"]).collect();
        assert!(codes.iter().all(|code| **code == -32603), "{codes:?}");
        let ran = calls.swap(0, Ordering::Relaxed);
        assert!(runs.contains(&ran), "{method}: {ran} calls ran");
    }
    server.close();
    serving.await.unwrap().unwrap();
}
