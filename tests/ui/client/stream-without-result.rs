use treenail::{Stream, mcp_client};

#[mcp_client]
trait Weather {
    fn radar(&self) -> impl Stream<Item = u32>;
}

fn main() {}
