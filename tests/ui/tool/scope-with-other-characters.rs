use treenail::prelude::*;

struct Files;

#[mcp_tool(scope = "files:\"read\"")]
impl Files {
    /// A tool.
    #[tool(scope = ["files:read", "files\\write"])]
    fn one() {}

    /// A resource.
    #[resource("app://two", scope = "dateien:überall")]
    fn two() -> String {
        String::new()
    }
}

fn main() {}
