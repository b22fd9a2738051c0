//! How the servers are started.

use std::path::Path;

use treenail::McpClient;
use treenail::client::ServerCommand;

/// A reference server of the npm registry.
pub(crate) fn command(name: &str) -> ServerCommand {
    let program = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../servers/node_modules/@modelcontextprotocol")
        .join(format!("server-{name}/dist/index.js"));
    assert!(
        program.exists(),
        "{} is not there; run `tests/install`",
        program.display()
    );
    ServerCommand::new("node").arg(program)
}

/// A client of one.
pub(crate) async fn connect(command: ServerCommand) -> McpClient {
    McpClient::builder().command(command).build().await.unwrap()
}
