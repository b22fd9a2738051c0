//! Requests that a handler of the client sends to the server that it answers.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;
use treenail::client::ClientError;
use treenail::prelude::*;
use treenail::schema::{ElicitResult, Revision};

use crate::script::{Reply, answer, initialized, scripted};

/// Asks the user.
#[mcp_tool]
async fn ask(cx: &Context) -> Result<String, AskError> {
    cx.confirm("Continue?").await?;
    Ok("confirmed".to_owned())
}

/// Never ends.
#[mcp_tool]
async fn hang() -> String {
    std::future::pending().await
}

#[tokio::test(start_paused = true)]
async fn a_request_of_a_handler_has_a_timeout() {
    let server = treenail::server!()
        .tools(tools![ask, hang])
        .build()
        .unwrap();
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let own = Arc::new(OnceLock::<Arc<McpClientSession>>::new());
        let nested = Arc::clone(&own);
        let session = McpClientSession::builder()
            .server(&server)
            .protocol_version(revision)
            .on_elicit(move |_| {
                let session = Arc::clone(nested.get().unwrap());
                async move {
                    let call = session.tools_call("hang", json!({}));
                    let error = call.timeout(Duration::from_secs(3)).await.unwrap_err();
                    assert!(matches!(error, ClientError::Timeout(_)), "{error}");
                    ElicitResult::accept(())
                }
            })
            .build()
            .await
            .unwrap();
        let session = Arc::new(session);
        assert!(own.set(Arc::clone(&session)).is_ok());
        let start = Instant::now();
        // The call around it pauses meanwhile.
        let call = session.tools_call("ask", json!({}));
        let call = call.timeout(Duration::from_secs(2));
        let limited = tokio::time::timeout(Duration::from_secs(60), async { call.await });
        let result = limited.await.expect("the handler ends").unwrap();
        assert_eq!(result.as_text(), Some("confirmed"), "{revision}");
        assert_eq!(start.elapsed().as_secs(), 3, "{revision}");
    }
}

/// Returns the replies of a server that asks the user before it lists its tools, which only legacy servers can do.
fn asking_for_its_list() -> impl FnMut(&Value) -> Reply + Send + 'static {
    let params = json!({"mode": "form", "message": "List?",
        "requestedSchema": {"type": "object", "properties": {}}});
    let tools = json!({"tools": [{"name": "t", "inputSchema": {"type": "object"}}]});
    let mut waiting = Value::Null;
    move |message| {
        match message["method"].as_str() {
            Some("initialize") => initialized(message, "2025-11-25"),
            Some("tools/list") => {
                waiting = message.clone();
                let question = json!({"jsonrpc": "2.0", "id": "q", "method": "elicitation/create",
                    "params": params});
                Reply::Lines(vec![question.to_string()])
            }
            // The answer of the client.
            None => Reply::Lines(vec![answer(&waiting, &tools)]),
            Some(_) => Reply::nothing(),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_handler_waits_within_its_timeout_for_a_list_that_waits_for_it() {
    let own = Arc::new(OnceLock::<McpClient>::new());
    let nested = Arc::clone(&own);
    let (session, _) = scripted(asking_for_its_list());
    let client = McpClient::builder()
        .session(session)
        .protocol_version(Revision::V2025_11_25)
        .on_elicit(move |_| {
            let client = nested.get().unwrap().clone();
            async move {
                let error = client.tools().await.unwrap_err();
                assert!(matches!(error, ClientError::Timeout(_)), "{error}");
                ElicitResult::accept(())
            }
        })
        .build()
        .await
        .unwrap();
    assert!(own.set(client.clone()).is_ok());
    let listed = tokio::time::timeout(Duration::from_secs(600), client.tools()).await;
    let tools = listed.expect("the handler ends").unwrap();
    assert_eq!(tools.len(), 1);
}

/// The requests of a legacy session are paused while any handler answers.
#[tokio::test(start_paused = true)]
async fn a_handler_lists_tools_beside_another_caller() {
    let params = json!({"mode": "form", "message": "List?",
        "requestedSchema": {"type": "object", "properties": {}}});
    let tools = json!({"tools": [{"name": "t", "inputSchema": {"type": "object"}}]});
    let (mut call, mut list) = (Value::Null, Value::Null);
    let (session, _) = scripted(move |message| match message["method"].as_str() {
        Some("initialize") => initialized(message, "2025-11-25"),
        Some("tools/list") => {
            list = message.clone();
            Reply::nothing()
        }
        Some("tools/call") => {
            call = message.clone();
            let question = json!({"jsonrpc": "2.0", "id": "q", "method": "elicitation/create",
                "params": params});
            Reply::Lines(vec![question.to_string()])
        }
        Some("ping") => Reply::Lines(vec![answer(&list, &tools), answer(message, &json!({}))]),
        None => Reply::Lines(vec![answer(&call, &json!({"content": []}))]),
        Some(_) => Reply::nothing(),
    });
    let own = Arc::new(OnceLock::<McpClient>::new());
    let nested = Arc::clone(&own);
    let client = McpClient::builder()
        .session(session)
        .protocol_version(Revision::V2025_11_25)
        .on_elicit(move |_| {
            let client = nested.get().unwrap().clone();
            async move {
                let listed = client.tools().await;
                listed.expect("the list does not wait for this handler");
                ElicitResult::accept(())
            }
        })
        .build()
        .await
        .unwrap();
    assert!(own.set(client.clone()).is_ok());
    let called = async { client.call_tool("t", ()).await };
    let (listed, called, ()) = tokio::join!(client.tools(), called, async {
        // All others wait for the list by then.
        tokio::time::sleep(Duration::from_secs(1)).await;
        client.session().ping().await.unwrap();
    });
    listed.unwrap();
    called.unwrap();
}
