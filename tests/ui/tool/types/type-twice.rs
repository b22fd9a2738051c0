use treenail::mcp_type;

#[mcp_type]
#[mcp_type]
struct Place {
    id: u64,
}

fn main() {}
