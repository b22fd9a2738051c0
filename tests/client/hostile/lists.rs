//! Lists that are too long, or arrive too slowly.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, sleep};
use treenail::client::{
    ClientError, ClientLimits, IncomingHandler, ListLimits, Session, SessionFuture,
    SessionNotification, SessionRequest, TransportKind,
};
use treenail::prelude::*;

use super::{modern, modern_with_limits};
use crate::script::Reply;

#[tokio::test]
async fn the_pages_of_a_list_share_a_byte_limit() {
    let pages = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&pages);
    let limits = ClientLimits::default().lists(ListLimits::default().bytes(16 << 10));
    let client = modern_with_limits(limits, move |message| {
        let page = counter.fetch_add(1, Ordering::Relaxed);
        let tool = json!({"name": format!("t{page}"), "inputSchema": {"type": "object"},
            "description": "x".repeat(1 << 10)});
        let mut result = json!({"resultType": "complete", "tools": [tool]});
        if page < 30 {
            result["nextCursor"] = json!(format!("after {page}"));
        }
        Reply::result(message, &result)
    });
    let client = client.await.unwrap();
    let error = client.tools().await.unwrap_err();
    assert!(matches!(error, ClientError::Protocol(_)), "{error}");
    assert!(error.to_string().contains("bytes"), "{error}");
    let pages = pages.load(Ordering::Relaxed);
    assert!(pages <= 17, "{pages} pages of 1 KiB were fetched");
}

#[tokio::test]
async fn all_lists_share_a_byte_limit() {
    let client = modern(move |message| {
        let text = "x".repeat(2 << 20);
        let method = message["method"].as_str().unwrap_or_default();
        let page = message["params"]["cursor"].as_str().map_or(0, str::len);
        let items: Vec<_> = (0..2)
            .map(|item| {
                let name = format!("{page}-{item}");
                json!({"name": name, "description": text, "uri": format!("a:{name}"),
                    "uriTemplate": "a:{b}", "inputSchema": {"type": "object"}})
            })
            .collect();
        let kind = match method {
            "tools/list" => "tools",
            "prompts/list" => "prompts",
            "resources/list" => "resources",
            _ => "resourceTemplates",
        };
        let mut result = json!({"resultType": "complete"});
        result[kind] = json!(items);
        if page < 5 {
            result["nextCursor"] = json!("x".repeat(page + 1));
        }
        Reply::result(message, &result)
    });
    let client = client.await.unwrap();
    // Each list takes 24 MiB.
    client.tools().await.unwrap();
    client.prompts().await.unwrap();
    let error = client.resources().await.unwrap_err();
    assert!(matches!(error, ClientError::Protocol(_)), "{error}");
    client.refresh_tools().await.unwrap();
    client.tools().await.unwrap();
}

/// Session with a server that takes 50 seconds for each page.
#[derive(Debug)]
struct Slow;

impl Session for Slow {
    fn listen(&self, _: Arc<dyn IncomingHandler>) {}

    fn request(&self, request: SessionRequest) -> SessionFuture<'_, String> {
        Box::pin(async move {
            if request.method == "server/discover" {
                let result = json!({"resultType": "complete", "supportedVersions": ["2026-07-28"],
                    "capabilities": {"tools": {}}});
                return Ok(result.to_string());
            }
            sleep(Duration::from_secs(50)).await;
            let params: Value = serde_json::from_str(&request.params).unwrap();
            let page = params["cursor"].as_str().map_or(0, str::len);
            let mut result = json!({"resultType": "complete", "tools": []});
            if page < 20 {
                result["nextCursor"] = json!("x".repeat(page + 1));
            }
            Ok(result.to_string())
        })
    }

    fn notify(&self, _: SessionNotification) -> SessionFuture<'_, ()> {
        Box::pin(async { Ok(()) })
    }

    fn transport(&self) -> TransportKind {
        TransportKind::Stream
    }

    fn close(&self) -> SessionFuture<'_, ()> {
        Box::pin(async { Ok(()) })
    }
}

#[tokio::test(start_paused = true)]
async fn slow_pages_share_one_deadline() {
    let client = McpClient::builder().session(Arc::new(Slow)).build();
    let client = client.await.unwrap();
    let start = Instant::now();
    let error = client.tools().await.unwrap_err();
    assert!(matches!(error, ClientError::Timeout(_)), "{error}");
    assert!(start.elapsed() < Duration::from_secs(61), "{start:?}");
}
