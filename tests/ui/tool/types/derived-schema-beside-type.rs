use treenail::mcp_type;

#[mcp_type(output)]
#[derive(Debug, schemars::JsonSchema)]
struct Place {
    id: u64,
}

fn main() {}
