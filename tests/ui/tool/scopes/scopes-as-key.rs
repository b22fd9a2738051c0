use treenail::mcp_tool;

struct Files;

#[mcp_tool(scopes = "files:read")]
impl Files {
    #[tool]
    fn one() {}
}

fn main() {}
