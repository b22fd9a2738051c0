use treenail::mcp_type;

#[mcp_type]
union Place {
    id: u64,
    number: i64,
}

fn main() {}
