use std::rc::Rc;

use treenail::prelude::*;

#[mcp_tool]
fn frames() -> impl Stream<Item = u64> {
    let frame = Rc::new(1);
    tokio_stream::StreamExt::map(tokio_stream::iter([1]), move |at| at + *frame)
}

fn main() {}
