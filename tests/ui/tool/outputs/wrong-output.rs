use treenail::mcp_tool;

struct Place {
    id: u64,
}

#[mcp_tool]
fn find() -> Place {
    Place { id: 1 }
}

fn main() {}
