//! The client over HTTP, with our server.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use treenail::Limits;
use treenail::prelude::*;
use treenail::schema::{ElicitAction, ElicitResult, Revision};

#[derive(Clone, Default)]
struct Desk(Arc<AtomicUsize>);

#[mcp_tool]
impl Desk {
    /// Adds, in a region.
    #[tool]
    fn add(&self, a: i64, b: i64, #[arg(header = "Region")] region: Option<String>) -> String {
        self.0.fetch_add(1, Ordering::SeqCst);
        format!(
            "{} in {}",
            a + b,
            region.unwrap_or_else(|| "no region".to_owned())
        )
    }

    #[tool]
    async fn sure(cx: &Context) -> Result<&'static str, AskError> {
        cx.progress(1).await;
        cx.confirm("Sure?").await?;
        Ok("sure")
    }
}

/// Starts a server at a free port, and returns its URL.
async fn serve(limits: Limits) -> (Server, String) {
    let server = Server::builder("desk", "1").mount(Desk::default());
    let server = server.dynamic().limits(limits).build().unwrap();
    let http = server.bind_http("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", http.local_addr());
    tokio::spawn(http.serve());
    (server, url)
}

/// Revisions with Streamable HTTP.
const OVER_HTTP: [Revision; 4] = [
    Revision::V2025_03_26,
    Revision::V2025_06_18,
    Revision::V2025_11_25,
    Revision::V2026_07_28,
];

#[tokio::test]
async fn a_client_finds_the_newest_revision_and_uses_it() {
    let (_server, url) = serve(Limits::default()).await;
    let client = McpClient::builder().url(url).build().await.unwrap();
    assert_eq!(
        client.session().protocol_version(),
        Revision::LATEST,
        "CLI-ERA-07"
    );
    // CLI-HDR-05, CLI-HDR-07, CLI-HDR-12, CLI-HDR-14: the server compares headers and arguments.
    for region in [
        json!("Oslo"),
        json!(" São\tPaulo "),
        json!("=?base64?x?="),
        json!(""),
    ] {
        let arguments = json!({"a": 1, "b": 2, "region": region});
        let sum: String = client.call_tool_as("add", arguments).await.unwrap();
        assert_eq!(sum, format!("3 in {}", region.as_str().unwrap()));
    }
    let sum: String = client
        .call_tool_as("add", json!({"a": 1, "b": 2, "region": null}))
        .await
        .unwrap();
    assert_eq!(sum, "3 in no region");
    client.close().await.unwrap();
}

#[tokio::test]
async fn elicitation_works_in_every_revision_that_supports_it() {
    let (_server, url) = serve(Limits::default()).await;
    for revision in &OVER_HTTP[1..] {
        let client = McpClient::builder()
            .url(&url)
            .protocol_version(*revision)
            .on_elicit(|_| async { Ok(ElicitResult::new(ElicitAction::Accept)) })
            .build()
            .await
            .unwrap();
        let steps = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&steps);
        let call = client.session().tools_call("sure", ());
        let call = call.on_progress(move |_| {
            count.fetch_add(1, Ordering::SeqCst);
        });
        let result = call.await.unwrap();
        assert_eq!(result.content[0].as_text(), Some("sure"), "{revision}");
        assert!(steps.load(Ordering::SeqCst) > 0, "{revision}");
        client.close().await.unwrap();
    }
}

#[tokio::test]
async fn clients_receive_changes_in_every_revision() {
    #[mcp_tool]
    fn late() -> &'static str {
        "here"
    }

    for revision in OVER_HTTP {
        let (server, url) = serve(Limits::default()).await;
        let builder = McpClientSession::builder()
            .url(url)
            .protocol_version(revision);
        let session = Arc::new(builder.build().await.unwrap());
        let mut notifications = session.notifications();
        let client = McpClient::new(session);
        assert_eq!(client.tools().await.unwrap().len(), 2);
        if revision.is_modern() {
            // Only an open subscription receives changes. In the legacy era, the stream is open when the client is connected.
            let listens = notifications.next().await.unwrap();
            assert_eq!(listens.method, "notifications/subscriptions/acknowledged");
        }
        server.edit(|edit| edit.tools(tools![late])).unwrap();
        let changed = notifications.next().await.unwrap();
        assert_eq!(
            changed.method, "notifications/tools/list_changed",
            "{revision}"
        );
        assert_eq!(
            client.tools().await.unwrap().len(),
            3,
            "CLI-CACHE-07: {revision}"
        );
        client.close().await.unwrap();
    }
}
