use treenail::mcp_client;

#[mcp_client]
trait Weather {
    fn radar(&self) -> !;
}

fn main() {}
