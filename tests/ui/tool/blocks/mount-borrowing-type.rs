use treenail::{mcp_tool, server};

struct Map<'a> {
    name: &'a str,
}

#[mcp_tool]
impl Map<'_> {
    #[tool]
    fn name(&self) -> &str {
        self.name
    }
}

fn main() {
    let name = String::new();
    server!().mount(Map { name: &name });
}
