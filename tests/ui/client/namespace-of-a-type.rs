use treenail::mcp_client;

struct Board;

#[mcp_client]
trait Weather {
    #[namespace]
    fn alerts(&self) -> &Board;
}

fn main() {}
