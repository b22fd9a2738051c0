//! Requests that a handler of the client sends to the server that it answers.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;
use treenail::client::ClientError;
use treenail::prelude::*;
use treenail::schema::{ElicitResult, Revision};

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
