use treenail::mcp_tool;

struct Map;

#[mcp_tool]
impl Map {
    #[resource("map://{country}/{id}")]
    fn place(id: u64) -> String {
        id.to_string()
    }
}

fn main() {}
