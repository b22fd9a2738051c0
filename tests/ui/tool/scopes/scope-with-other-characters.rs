use treenail::mcp_tool;

struct Files;

#[mcp_tool]
impl Files {
    #[tool(scope = ["files:read", "files\\write"])]
    fn one() {}
}

fn main() {}
