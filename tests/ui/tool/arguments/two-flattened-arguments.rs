use treenail::prelude::*;

#[mcp_type(input)]
struct Page {
    first: u32,
}

#[mcp_type(input)]
struct Place {
    city: String,
}

#[mcp_tool]
fn streets(#[arg(flatten)] page: Page, #[arg(flatten)] place: Place) -> String {
    format!("{} {}", place.city, page.first)
}

fn main() {
    let _ = tools![streets];
}
