use tokio_stream::wrappers::ReceiverStream;
use treenail::mcp_tool;

struct Frame {
    at: u64,
}

#[mcp_tool(stream)]
async fn frames() -> ReceiverStream<Frame> {
    let (sender, receiver) = tokio::sync::mpsc::channel(1);
    let _ = sender.send(Frame { at: 1 }).await;
    ReceiverStream::new(receiver)
}

fn main() {}
