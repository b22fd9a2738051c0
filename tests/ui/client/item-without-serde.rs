use treenail::{Stream, ToolError, mcp_client};

struct Frame;

#[mcp_client]
trait Weather {
    fn radar(&self) -> impl Stream<Item = Result<Frame, ToolError>>;
}

fn main() {}
