use treenail::mcp_client;

pub struct Failure;

#[mcp_client]
trait Weather {
    async fn radar(&self) -> Result<u32, Failure>;
}

fn main() {}
