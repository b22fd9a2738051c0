use treenail::mcp_type;

#[mcp_type]
struct Place {
    #[arg(range = 1..)]
    id: u64,
}

fn main() {}
