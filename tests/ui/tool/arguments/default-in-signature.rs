use treenail::mcp_tool;

#[mcp_tool]
fn repeat(text: String, times: usize = 2) -> String {
    text.repeat(times)
}

fn main() {}
