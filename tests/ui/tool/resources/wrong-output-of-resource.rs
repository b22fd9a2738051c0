use treenail::mcp_tool;

struct Map;

struct Place {
    id: u64,
}

#[mcp_tool]
impl Map {
    #[resource("map://place")]
    fn place() -> Place {
        Place { id: 1 }
    }
}

fn main() {}
