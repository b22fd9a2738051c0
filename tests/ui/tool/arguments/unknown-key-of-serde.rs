use treenail::mcp_type;

#[mcp_type]
struct Place {
    #[serde(renam = "number")]
    id: u64,
}

fn main() {}
