//! Commands to start the servers.

use std::path::Path;

use treenail::McpClient;
use treenail::client::ServerCommand;

/// Returns the command for a reference server from npm.
pub(crate) fn command(name: &str) -> ServerCommand {
    let program = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../servers/node_modules/@modelcontextprotocol")
        .join(format!("server-{name}/dist/index.js"));
    assert!(
        program.exists(),
        "{} does not exist; run `tests/install`",
        program.display()
    );
    ServerCommand::new("node").arg(program)
}

/// Connects to a server.
pub(crate) async fn connect(command: ServerCommand) -> McpClient {
    McpClient::builder().command(command).build().await.unwrap()
}
