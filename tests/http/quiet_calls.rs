//! Calls that send nothing for long: their response starts in time, so that proxies do not close it.

use std::time::Duration;

use serde_json::json;
use treenail::http::{HttpService, http_service};
use treenail::prelude::*;
use treenail::schema::Revision;

use crate::client::{Post, next};
use crate::legacy::Client;

/// Does something for so many seconds, and reports nothing.
#[mcp_tool]
async fn work(seconds: u64) -> &'static str {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    "done"
}

fn service() -> HttpService {
    http_service(
        Server::builder("quiet", "1")
            .tools(tools![work])
            .build()
            .unwrap(),
    )
}

#[tokio::test(start_paused = true)]
async fn the_response_to_a_quiet_call_becomes_an_event_stream() {
    let service = service();
    let sessionless = self::service().without_sessions();
    for (seconds, content_type) in [(14, "application/json"), (40, "text/event-stream")] {
        let arguments = json!({"seconds": seconds});
        let mut responses = vec![Post::tool("work", arguments.clone()).send(&service).await];
        for revision in Revision::ALL.into_iter().filter(|it| !it.is_modern()) {
            let client = Client::start(&service, revision).await;
            responses.push(client.send(client.tool(1, "work", &arguments)).await);
        }
        let params = json!({"name": "work", "arguments": arguments});
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let post = Post::raw(message.to_string()).with("mcp-protocol-version", "2025-11-25");
        responses.push(post.send(&sessionless).await);
        for response in responses {
            assert_eq!(response.status, 200, "{response:?}");
            assert_eq!(
                response.header("content-type"),
                Some(content_type),
                "{response:?}"
            );
            let text = "\"text\":\"done\"";
            assert!(response.body.contains(text), "SRV-HTTP-12: {response:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_stream_of_a_quiet_call_has_comments() {
    let response = Post::tool("work", json!({"seconds": 40}));
    let mut body = response.begin(&service()).await.into_body();
    assert_eq!(next(&mut body).await.unwrap(), ":\n\n");
    let result = next(&mut body).await.unwrap();
    assert!(result.starts_with(b"data: {"), "{result:?}");
    assert!(next(&mut body).await.is_none());
}
