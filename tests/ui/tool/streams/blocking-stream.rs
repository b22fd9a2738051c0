use treenail::prelude::*;

#[mcp_tool(blocking)]
fn frames() -> impl Stream<Item = u64> {
    tokio_stream::iter([1])
}

fn main() {}
