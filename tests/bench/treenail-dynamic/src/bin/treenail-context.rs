//! The same tool from a macro, with the context that each tool made at run time gets.

use treenail::prelude::*;

/// Adds two integers.
#[mcp_tool]
async fn add(_cx: &Context, a: i64, b: i64) -> Result<i64, ToolError> {
    Ok(a + b)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> treenail::Result<()> {
    treenail::server!()
        .tools(tools![add])
        .build()?
        .serve_stdio()
        .await
}
