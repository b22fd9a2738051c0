use treenail::mcp_type;

#[mcp_type(input, output)]
struct Place {
    id: u64,
}

fn main() {}
