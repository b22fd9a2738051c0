use treenail::{mcp_client, mcp_type};

#[mcp_type]
enum Failure {
    Lost,
}

#[mcp_client]
trait Weather {
    async fn radar(&self) -> Result<u32, Failure>;
}

fn main() {}
