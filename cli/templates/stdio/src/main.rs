//! MCP server over standard input and output. Hosts start it as a child process.

mod tools;

use treenail::prelude::*;

use crate::tools::{add, divide};

/// Returns the server with its tools.
fn server() -> treenail::Result<Server> {
    treenail::server!().tools(tools![add, divide]).build()
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> treenail::Result<()> {
    server()?.serve_stdio().await
}

#[cfg(test)]
mod tests;
