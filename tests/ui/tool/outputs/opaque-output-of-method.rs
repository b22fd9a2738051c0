use treenail::mcp_tool;

struct Map {
    names: Vec<String>,
}

#[mcp_tool]
impl Map {
    #[tool]
    fn count(&self) -> Option<impl Into<u64>> {
        u32::try_from(self.names.len()).ok()
    }
}

fn main() {}
