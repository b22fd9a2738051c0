use treenail::mcp_tool;

#[mcp_tool]
trait Find {
    fn find(&self) -> u64;
}

fn main() {}
