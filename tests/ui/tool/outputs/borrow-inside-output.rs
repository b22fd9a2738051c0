use treenail::mcp_tool;

struct Map {
    names: Vec<String>,
}

#[mcp_tool]
impl Map {
    #[tool]
    fn names(&self) -> Vec<&str> {
        self.names.iter().map(String::as_str).collect()
    }
}

fn main() {}
