use treenail::mcp_tool;

struct Map;

#[mcp_tool]
impl Map {
    #[resource("map://places/{id}")]
    fn place(#[arg(default = 1)] id: u64) -> String {
        id.to_string()
    }
}

fn main() {}
