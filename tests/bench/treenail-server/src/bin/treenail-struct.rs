//! The same server, with a tool that returns a struct.

use treenail::prelude::*;

/// Sum of two integers.
#[mcp_type]
struct Sum {
    sum: i64,
}

/// Adds two integers.
#[mcp_tool]
async fn add(a: i64, b: i64) -> Sum {
    Sum { sum: a + b }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> treenail::Result<()> {
    treenail::server!()
        .tools(tools![add])
        .build()?
        .serve_stdio()
        .await
}
