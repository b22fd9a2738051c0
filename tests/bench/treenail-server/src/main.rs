//! A server with one tool, as a user of Treenail writes it.

use treenail::prelude::*;

/// Adds two integers.
#[mcp_tool]
async fn add(a: i64, b: i64) -> i64 {
    a + b
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> treenail::Result<()> {
    treenail::server!()
        .tools(tools![add])
        .build()?
        .serve_stdio()
        .await
}
