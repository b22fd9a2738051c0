use treenail::prelude::*;

#[mcp_type(input)]
#[derive(Default)]
struct Page {
    first: u32,
}

#[mcp_tool]
fn streets(#[arg(flatten, default)] page: Page) -> u32 {
    page.first
}

fn main() {
    let _ = tools![streets];
}
