use treenail::prelude::*;

#[mcp_type(input)]
struct Page {
    first: u32,
}

#[mcp_tool]
fn streets(
    /// The page
    #[arg(flatten)]
    page: Page,
) -> u32 {
    page.first
}

fn main() {
    let _ = tools![streets];
}
