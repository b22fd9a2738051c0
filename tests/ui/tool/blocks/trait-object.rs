use treenail::mcp_tool;

trait Database {}

#[mcp_tool]
impl dyn Database + Send {
    #[tool]
    fn count(&self) -> u64 {
        7
    }
}

fn main() {}
