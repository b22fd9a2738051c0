use tokio_stream::wrappers::ReceiverStream;
use treenail::mcp_tool;

#[mcp_tool]
fn frames() -> ReceiverStream<u64> {
    ReceiverStream::new(tokio::sync::mpsc::channel(1).1)
}

fn main() {}
