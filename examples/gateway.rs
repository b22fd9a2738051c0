//! A gateway: two servers as one, a tool of its own that replaces one of theirs, and tools that only some callers see.
//!
//! ```text
//! cargo run --example gateway --features proxy -- "npx -y @modelcontextprotocol/server-filesystem ." "npx -y @modelcontextprotocol/server-memory"
//! ```

use std::error::Error;
use std::time::Duration;

use treenail::client::ServerCommand;
use treenail::context::Principal;
use treenail::prelude::*;
use treenail::proxy::{Proxy, Remote};
use treenail::server::FeatureDescriptor;

struct Files;

#[mcp_tool(namespace = "files")]
impl Files {
    /// Moves nothing: files stay where they are.
    #[tool]
    async fn move_file(&self, source: String, destination: String) -> Result<String, ToolError> {
        let refusal = format!("{source} stays: nothing is moved to {destination}");
        Err(ToolError::new(refusal))
    }
}

/// Returns the gateway, and the proxy that connects the two servers.
pub(crate) fn gateway(
    files: ServerCommand,
    memory: ServerCommand,
) -> treenail::Result<(Server, Proxy)> {
    let server = treenail::server!()
        .dynamic()
        // It replaces the tool of the mounted server.
        .mount(Files)
        .visible(|feature, caller| {
            let is_admin = caller.principal().is_some_and(|it| it == &Principal::new("admin"));
            is_admin || !feature.name().starts_with("memory.delete_")
        })
        .build()?;
    let proxy = Proxy::new(&server);
    let connect = move || McpClient::builder().command(files.clone());
    let files = Remote::new("files", connect)
        .filter(|feature| feature.name() != "write_file")
        .rename("read_text_file", "read");
    proxy.mount(files)?;
    let connect = move || McpClient::builder().command(memory.clone());
    let tools_only = |feature: &FeatureDescriptor<'_>| feature.tool().is_some();
    proxy.mount(Remote::new("memory", connect).filter(tools_only))?;
    Ok((server, proxy))
}

/// Reads a command line without quotes.
fn command(line: Option<String>) -> Result<ServerCommand, Box<dyn Error + Send + Sync>> {
    let line = line.unwrap_or_default();
    let mut words = line.split_whitespace();
    let program = words
        .next()
        .ok_or("usage: gateway FILES-COMMAND MEMORY-COMMAND")?;
    Ok(ServerCommand::new(program).args(words))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> treenail::Result<()> {
    let mut args = std::env::args().skip(1);
    let (files, memory) = (command(args.next())?, command(args.next())?);
    let (server, proxy) = gateway(files, memory)?;
    // Many clients list tools only once.
    proxy.ready(Duration::from_secs(10)).await;
    let outcome = server.serve_stdio().await;
    // The two servers see the end of their input, and may finish their work.
    proxy.close().await;
    outcome
}
