use treenail::mcp_tool;

struct Map;

struct Place {
    id: u64,
}

#[mcp_tool]
impl Map {
    #[tool]
    async fn find(&self, id: u64) -> Place {
        Place { id }
    }
}

fn main() {}
