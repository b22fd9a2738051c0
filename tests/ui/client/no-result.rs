use treenail::mcp_client;

#[mcp_client]
trait Weather {
    async fn radar(&self) -> u32;
}

fn main() {}
