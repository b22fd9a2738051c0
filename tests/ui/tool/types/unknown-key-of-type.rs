use treenail::mcp_type;

#[mcp_type(rename_all = "camelCase")]
struct Place {
    id: u64,
}

fn main() {}
