//! A client that calls one tool, as a user of rmcp writes it. (It opens with `initialize`.)

use client_load::{Arguments, Result, measure};
use rmcp::ServiceExt;
use rmcp::model::CallToolRequestParams;
use rmcp::transport::TokioChildProcess;
use tokio::process::Command;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let arguments = Arguments::read()?;
    let server = TokioChildProcess::new(Command::new(&arguments.server))?;
    let client = ().serve(server).await?;
    let peer = client.peer().clone();
    measure(arguments.calls, move |number| {
        let peer = peer.clone();
        async move {
            let arguments = serde_json::json!({"a": number, "b": 1});
            let params = CallToolRequestParams::new("add")
                .with_arguments(arguments.as_object().cloned().unwrap_or_default());
            let result = peer.call_tool(params).await?;
            let sum = result.content.first().and_then(|block| block.as_text());
            Ok(sum.ok_or("no sum")?.text.parse()?)
        }
    })
    .await
}
