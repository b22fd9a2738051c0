use treenail::mcp_tool;

struct Library;

#[mcp_tool]
impl Library {
    #[prompt(task)]
    fn summary() -> String {
        String::new()
    }
}

fn main() {}
