use treenail::mcp_tool;

struct Files;

#[mcp_tool]
impl Files {
    #[prompt(scope)]
    fn one() -> String {
        String::new()
    }
}

fn main() {}
