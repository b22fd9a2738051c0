use treenail::mcp_tool;

#[mcp_tool(output_schema = "…")]
fn find() -> u64 {
    7
}

fn main() {}
