use treenail::prelude::*;

struct Files;

#[mcp_tool(scopes = "files:read")]
impl Files {
    /// A prompt.
    #[prompt(scope)]
    fn one() -> String {
        String::new()
    }
}

fn main() {}
