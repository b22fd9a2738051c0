use treenail::mcp_client;

#[mcp_client]
trait Weather {
    async fn forget(&self, place: String);
}

fn main() {}
