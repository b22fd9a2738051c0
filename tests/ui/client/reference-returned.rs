use treenail::mcp_client;

#[mcp_client]
trait Weather {
    fn name(&self) -> &str;
}

fn main() {}
