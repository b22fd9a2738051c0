//! Calls that send nothing for long: their response starts in time, so that proxies do not close it.

use std::time::Duration;

use serde_json::json;
use treenail::Limits;
use treenail::http::{HttpBody, HttpService, http_service};
use treenail::limits::HttpLimits;
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
    service_within(Limits::default())
}

fn service_within(limits: Limits) -> HttpService {
    let server = Server::builder("quiet", "1").tools(tools![work]);
    http_service(server.limits(limits).build().unwrap())
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

/// Returns the pieces of a response.
async fn pieces(mut body: HttpBody) -> Vec<String> {
    let mut pieces = Vec::new();
    while let Some(piece) = next(&mut body).await {
        pieces.push(String::from_utf8(piece.to_vec()).unwrap());
    }
    pieces
}

#[tokio::test(start_paused = true)]
async fn the_stream_of_a_quiet_call_has_comments() {
    const CALL: u64 = 40;
    let arguments = json!({"seconds": CALL});
    // An interval below a second is a second.
    for (seconds, comments) in [
        (0, 38..=39),
        (9, 3..=3),
        (15, 1..=1),
        (CALL + 1, 0..=0),
        (u64::MAX, 0..=0),
    ] {
        let http = HttpLimits::default().keep_alive(Duration::from_secs(seconds));
        let service = service_within(Limits::default().http(http));
        let modern = Post::tool("work", arguments.clone());
        let modern = pieces(modern.begin(&service).await.into_body()).await;
        let client = Client::start(&service, Revision::V2025_06_18).await;
        let legacy = pieces(client.open(client.tool(1, "work", &arguments)).await).await;
        for mut pieces in [modern, legacy] {
            let result = pieces.pop().unwrap();
            assert!(result.contains("\"text\":\"done\""), "{result}");
            assert!(pieces.iter().all(|piece| piece == ":\n\n"), "{pieces:?}");
            assert!(comments.contains(&pieces.len()), "{seconds}: {pieces:?}");
        }
    }
}
