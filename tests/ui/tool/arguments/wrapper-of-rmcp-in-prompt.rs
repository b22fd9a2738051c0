use treenail::{mcp_tool, mcp_type};

#[mcp_type]
struct Review {
    diff: String,
}

struct Reviewer;

#[mcp_tool]
impl Reviewer {
    #[prompt]
    fn review(Parameters(Review { diff }): Parameters<Review>) -> String {
        diff
    }
}

fn main() {}
