//! Servers of the legacy era that are replaced by servers of the modern era.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{sleep, timeout};
use treenail::RpcError;
use treenail::client::{ClientError, McpClientBuilder, SessionRequest};
use treenail::prelude::*;
use treenail::schema::{ElicitResult, Revision};

use crate::failing::failing;
use crate::resource_updates::{count, listening};
use crate::script::{Received, Reply, scripted};

/// A client, its server, and the switch that replaces the server by another one.
struct Replaced {
    builder: McpClientBuilder,
    received: Received,
    is_over: Arc<AtomicBool>,
}

/// Connects to a server of the legacy era, which one of the modern era with these results replaces. The second one announces changes of
/// lists, too. `fail` returns the error of a request that does not reach the server.
fn replaced(
    mut modern: impl FnMut(&Value) -> Value + Send + 'static,
    fail: impl Fn(&SessionRequest) -> Option<ClientError> + Send + Sync + 'static,
) -> Replaced {
    let is_over = Arc::<AtomicBool>::default();
    let switch = Arc::clone(&is_over);
    let (session, received) = scripted(move |message| {
        let capabilities = |tools: Value| json!({"tools": tools, "resources": {"subscribe": true}});
        let method = message["method"].as_str().unwrap_or_default();
        let is_modern = !message["params"]["_meta"].is_null();
        let mut result = match method {
            _ if message["id"].is_null() => return Reply::nothing(),
            _ if switch.load(Ordering::SeqCst) && !is_modern => {
                let data = json!({"supported": ["2026-07-28"], "requested": "2025-11-25"});
                let error = json!({"code": -32022, "message": "unsupported", "data": data});
                return Reply::error(message, &error);
            }
            "initialize" => json!({
                "protocolVersion": "2025-11-25", "capabilities": capabilities(json!({})),
                "serverInfo": {"name": "script", "version": "1"},
            }),
            _ if !is_modern => return Reply::result(message, &json!({"tools": []})),
            "server/discover" => {
                let capabilities = capabilities(json!({"listChanged": true}));
                json!({"supportedVersions": ["2026-07-28"], "capabilities": capabilities})
            }
            "subscriptions/listen" => return Reply::Lines(listening(message)),
            _ => modern(message),
        };
        let result_type = result
            .get("resultType")
            .is_none()
            .then(|| json!("complete"));
        if let Some(result_type) = result_type.filter(|_| is_modern) {
            result["resultType"] = result_type;
        }
        Reply::result(message, &result)
    });
    let builder = McpClient::builder().session(failing(session, fail));
    Replaced {
        builder: builder.prefer_version(Revision::V2025_11_25),
        received,
        is_over,
    }
}

fn tools() -> Value {
    let region = json!({"type": "string", "x-mcp-header": "Region"});
    let schema = json!({"type": "object", "properties": {"region": region}});
    let tool = json!({"name": "a", "inputSchema": schema});
    json!({"ttlMs": 3_600_000, "cacheScope": "private", "tools": [tool]})
}

#[tokio::test]
async fn the_call_that_finds_the_modern_server_is_asked() {
    let modern = |message: &Value| match &message["params"]["inputResponses"] {
        Value::Null => json!({"resultType": "input_required", "inputRequests": {"a": {
            "method": "elicitation/create",
            "params": {"mode": "form", "message": "Sure?", "requestedSchema": {"type": "object", "properties": {}}},
        }}}),
        _ => json!({"content": [{"type": "text", "text": "done"}]}),
    };
    let replaced = replaced(modern, |_| None);
    let builder = replaced
        .builder
        .on_elicit(|_| async { ElicitResult::accept(()) });
    let client = builder.build().await.unwrap();
    replaced.is_over.store(true, Ordering::SeqCst);
    let result = client.call_tool("a", ()).await.expect("CLI-ERA-12");
    assert_eq!(result.as_text(), Some("done"));
}

#[tokio::test]
async fn the_call_that_finds_the_modern_server_is_repeated_with_its_headers() {
    let modern = |message: &Value| match message["method"].as_str() {
        Some("tools/list") => tools(),
        _ => json!({"content": []}),
    };
    // As a server that compares headers and arguments.
    let fail = |request: &SessionRequest| {
        let is_modern = request.revision.is_some_and(Revision::is_modern);
        let is_refused = is_modern && request.method == "tools/call" && request.headers.is_empty();
        is_refused.then(|| RpcError::new(-32020, "no header").into())
    };
    let replaced = replaced(modern, fail);
    let client = replaced.builder.build().await.unwrap();
    client.tools().await.unwrap();
    replaced.is_over.store(true, Ordering::SeqCst);
    let call = client.call_tool("a", json!({"region": "Oslo"}));
    call.await.expect("CLI-HDR-13");
}

#[tokio::test(start_paused = true)]
async fn the_changes_of_the_modern_server_are_subscribed_to() {
    let replaced = replaced(|_| tools(), |_| None);
    let client = replaced.builder.build().await.unwrap();
    client.tools().await.unwrap();
    sleep(Duration::from_secs(60)).await;
    assert_eq!(count(&replaced.received, "subscriptions/listen"), 0);
    replaced.is_over.store(true, Ordering::SeqCst);
    client.session().tools_list(None).await.unwrap();
    sleep(Duration::from_secs(60)).await;
    assert_eq!(
        count(&replaced.received, "subscriptions/listen"),
        1,
        "CLI-ERA-12"
    );
    drop(client);
}

#[tokio::test(start_paused = true)]
async fn updates_of_resources_go_on_with_the_modern_server() {
    for finds_out in [false, true] {
        let replaced = replaced(|_| tools(), |_| None);
        let builder = replaced.builder.subscribe_to_changes(false);
        let client = builder.build().await.unwrap();
        replaced.is_over.store(finds_out, Ordering::SeqCst);
        let mut updates = client.resource_updates(["a://1"]).await.unwrap();
        replaced.is_over.store(true, Ordering::SeqCst);
        client.session().tools_list(None).await.unwrap();
        if !finds_out {
            let item = timeout(Duration::from_secs(60), updates.next()).await;
            assert_eq!(item.unwrap().unwrap().unwrap(), "a://1");
        }
        sleep(Duration::from_secs(60)).await;
        assert_eq!(count(&replaced.received, "subscriptions/listen"), 1);
        assert!(
            timeout(Duration::from_secs(60), updates.next())
                .await
                .is_err()
        );
    }
}

#[tokio::test(start_paused = true)]
async fn lists_of_the_new_server_are_refreshed() {
    let replaced = replaced(|_| tools(), |_| None);
    let client = replaced.builder.auto_refresh(true).build().await.unwrap();
    client.tools().await.unwrap();
    replaced.is_over.store(true, Ordering::SeqCst);
    client.session().tools_list(None).await.unwrap();
    let before = count(&replaced.received, "tools/list");
    sleep(Duration::from_secs(60)).await;
    assert!(count(&replaced.received, "tools/list") > before);
    drop(client);
}
