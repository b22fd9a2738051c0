use treenail::prelude::*;

struct Lost;

#[mcp_tool]
fn frames() -> Result<impl Stream<Item = u64>, Lost> {
    Err::<tokio_stream::Empty<u64>, _>(Lost)
}

fn main() {}
