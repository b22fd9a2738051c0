use treenail::mcp_tool;

struct Map;

#[mcp_tool]
impl Map {
    #[resource("map://my places")]
    fn places() -> String {
        String::new()
    }
}

fn main() {}
