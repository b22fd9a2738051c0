//! Observable behaviour of servers on rmcp that contain a mistake.
//!
//! Each program in `bin/` contains one mistake, compiles without a warning, and passes its server to [`observe`]. The client
//! is also from rmcp, connected over a pipe in memory.

use std::fmt::Write;
use std::time::Duration;

use rmcp::model::CallToolRequestParams;
use rmcp::{ServerHandler, ServiceExt};
use serde_json::Value;
use tokio::time::timeout;

/// Timeout after which a request counts as never answered.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(3);

/// Prints one line with the listed tools and the outcome of each call.
pub async fn observe<S: ServerHandler>(
    server: S,
    calls: &[(&'static str, Value)],
) -> anyhow::Result<()> {
    let (near, far) = tokio::io::duplex(1 << 16);
    let serving = tokio::spawn(async move {
        let running = server.serve(far).await?;
        running.waiting().await?;
        anyhow::Ok(())
    });
    let client = ().serve(near).await?;
    let mut line = match timeout(ANSWER_TIMEOUT, client.list_all_tools()).await {
        Err(_) => "listing is never answered".to_owned(),
        Ok(Ok(tools)) => {
            let names: Vec<_> = tools
                .iter()
                .map(|tool| format!("`{}`", tool.name))
                .collect();
            format!(
                "listed: {}",
                if names.is_empty() {
                    "nothing".into()
                } else {
                    names.join(", ")
                }
            )
        }
        Ok(Err(error)) => format!("listing fails: {error}"),
    };
    for (name, arguments) in calls {
        let params = CallToolRequestParams::new(*name)
            .with_arguments(arguments.as_object().cloned().unwrap_or_default());
        let outcome = match timeout(ANSWER_TIMEOUT, client.call_tool(params)).await {
            Err(_) => "never answered".to_owned(),
            Ok(Ok(result)) => serde_json::to_string(&result)?,
            Ok(Err(error)) => format!("error {error}"),
        };
        write!(line, "; {name}({arguments}): {outcome}")?;
    }
    println!("{line}");
    client.cancel().await?;
    serving.await?
}

/// Prints the declared input and output schema of a tool, one line each.
pub fn print_schemas(tool: &rmcp::model::Tool) {
    let input = Value::Object((*tool.input_schema).clone());
    let output = tool
        .output_schema
        .as_ref()
        .map(|schema| Value::Object((**schema).clone()));
    println!("input schema: {input}");
    if let Some(output) = output {
        println!("output schema: {output}");
    }
}
