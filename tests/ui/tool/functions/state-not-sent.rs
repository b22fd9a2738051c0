use std::rc::Rc;

use treenail::mcp_tool;

struct Map {
    name: Rc<str>,
}

#[mcp_tool]
impl Map {
    #[tool]
    async fn name(&self) -> String {
        self.name.to_string()
    }
}

fn main() {}
