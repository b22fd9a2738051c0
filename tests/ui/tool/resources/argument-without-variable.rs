use treenail::mcp_tool;

struct Map;

#[mcp_tool]
impl Map {
    #[resource("map://places/{id}")]
    fn place(number: u64) -> String {
        number.to_string()
    }
}

fn main() {}
