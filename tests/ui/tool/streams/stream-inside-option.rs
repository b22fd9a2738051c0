use treenail::prelude::*;

#[mcp_tool]
fn count() -> Option<impl Stream<Item = u64>> {
    Some(tokio_stream::iter([7]))
}

fn main() {}
