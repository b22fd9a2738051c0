use std::collections::BTreeSet;

use treenail::mcp_tool;

#[mcp_tool]
fn join(#[arg(length = 1..=7)] parts: BTreeSet<String>) -> String {
    parts.into_iter().collect()
}

fn main() {}
