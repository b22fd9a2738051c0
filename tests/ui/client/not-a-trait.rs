use treenail::mcp_client;

#[mcp_client]
struct Weather;

fn main() {}
