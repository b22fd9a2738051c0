use treenail::prelude::*;

struct Frame {
    at: u64,
}

#[mcp_tool]
fn frames() -> impl Stream<Item = Result<Frame, std::fmt::Error>> {
    tokio_stream::iter([Ok(Frame { at: 1 })])
}

fn main() {}
