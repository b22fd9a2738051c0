//! A server with 1,000 tools, for the benchmark of `tools/list`.
//!
//! `Mount` is written by hand, as `#[mcp_tool]` would write it for an `impl` block, with the names counted.

use treenail::__private::{ReturnsValue as _, ToolHead};
use treenail::{Mount, Returns, ToolArgument, ToolDefinition};

struct Many;

impl Mount for Many {
    const NAMESPACE: &'static str = "";
    const INSTRUCTIONS: &'static str = "";

    fn tools() -> Vec<ToolDefinition<Self>> {
        (0..1_000).map(add).collect()
    }
}

fn add(number: usize) -> ToolDefinition<Many> {
    let arguments = (
        <i64 as ToolArgument>::argument("a"),
        <i64 as ToolArgument>::argument("b"),
    );
    ToolHead::new(format!("add_{number}").leak())
        .description("Adds two integers.")
        .synchronous(arguments, Returns::<i64>::output(), |_, (), (a, b)| a + b)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> treenail::Result<()> {
    treenail::server!()
        .mount(Many)
        .build()?
        .serve_stdio()
        .await
}
