//! Tasks of a client over HTTP that closes its connection.

use std::future::pending;
use std::time::Duration;

use tokio::time::timeout;
use treenail::client::ClientError;
use treenail::prelude::*;
use treenail::schema::Revision;

struct Works;

#[mcp_tool]
impl Works {
    /// Never ends.
    #[tool(task(always, required))]
    async fn endless(&self) -> String {
        pending().await
    }
}

#[tokio::test]
async fn a_call_that_waits_for_its_task_ends_with_its_connection() {
    let server = Server::builder("works", "1").mount(Works).build().unwrap();
    let http = server.bind_http("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", http.local_addr());
    tokio::spawn(http.serve());
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let builder = McpClient::builder().url(&url).tasks();
        let client = builder.protocol_version(revision).build().await.unwrap();
        let mut task = client.call_tool("endless", ()).task().await.unwrap();
        let both = async { tokio::join!(task.wait(), client.close()).0 };
        let waited = timeout(Duration::from_secs(60), both).await;
        let error = waited.expect("the wait ends").unwrap_err();
        assert!(
            matches!(error, ClientError::Closed(_)),
            "{revision}: {error}"
        );
    }
}
