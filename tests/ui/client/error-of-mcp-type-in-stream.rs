use treenail::{Stream, mcp_client, mcp_type};

#[mcp_type]
enum Failure {
    Lost,
}

#[mcp_client]
trait Weather {
    fn radar(&self) -> impl Stream<Item = Result<u32, Failure>>;
}

fn main() {}
