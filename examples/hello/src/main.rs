//! The smallest server. `hello serve` serves it over standard input and output, as hosts start it. `hello` is a client:
//! it starts `hello serve`, lists the tools and calls one.

use std::collections::BTreeMap;
use std::env;

use treenail::client::ServerCommand;
use treenail::prelude::*;

/// Adds two integers.
#[mcp_tool(read_only)]
async fn add(a: i64, b: i64) -> i64 {
    a + b
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> treenail::Result<()> {
    if env::args().nth(1).as_deref() == Some("serve") {
        let server = treenail::server!().tools(tools![add]).build()?;
        return server.serve_stdio().await;
    }
    visit().await
}

/// Starts this program as a server, and uses it as a host does.
#[allow(
    clippy::print_stdout,
    reason = "standard output is the output of the client"
)]
async fn visit() -> treenail::Result<()> {
    let command = ServerCommand::new(env::current_exe()?).arg("serve");
    let client = McpClient::builder().command(command).build().await?;
    let revision = client.session().protocol_version();
    println!("connected over protocol revision {revision}");
    for tool in client.tools().await? {
        let description = tool.description.as_deref().unwrap_or("-");
        println!("tool {}: {description}", tool.name);
    }

    let right = BTreeMap::from([("a", 1), ("b", 2)]);
    let sum: i64 = client.call_tool_as("add", &right).await?;
    println!("add {right:?} -> {sum}");

    let wrong = BTreeMap::from([("a", 1), ("b2", 2)]);
    if let Err(error) = client.call_tool_as::<i64>("add", &wrong).await {
        println!("add {wrong:?} -> {error}");
    }
    client.close().await?;
    Ok(())
}
