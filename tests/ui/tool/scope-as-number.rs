use treenail::prelude::*;

/// A tool.
#[mcp_tool(scope = 7)]
fn one() {}

fn main() {}
