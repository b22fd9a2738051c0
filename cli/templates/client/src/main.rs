//! MCP client: prints the tools of a server. The arguments are a URL, or a command that starts the server.

use std::env;
use std::fmt::Write as _;

use treenail::client::ServerCommand;
use treenail::prelude::*;

/// Connects to a URL, or starts a command.
async fn connect(mut target: impl Iterator<Item = String>) -> treenail::Result<McpClient> {
    let first = target.next();
    let first =
        first.ok_or_else(|| treenail::Error::Other("expected a URL or a command".into()))?;
    let builder = McpClient::builder();
    let builder = if first.starts_with("http://") || first.starts_with("https://") {
        builder.url(first)
    } else {
        builder.command(ServerCommand::new(first).args(target))
    };
    Ok(builder.build().await?)
}

/// Lists the tools of a server, one in each line.
async fn list_tools(client: &McpClient) -> Result<String, ClientError> {
    let mut text = String::new();
    for tool in client.tools().await? {
        let description = tool.description.as_deref().unwrap_or("no description");
        let _infallible = writeln!(text, "{}: {description}", tool.name);
    }
    Ok(text)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> treenail::Result<()> {
    let client = connect(env::args().skip(1)).await?;
    print!("{}", list_tools(&client).await?);
    client.close().await?;
    Ok(())
}

#[cfg(test)]
mod tests;
