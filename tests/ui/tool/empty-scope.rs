use treenail::prelude::*;

/// A tool.
#[mcp_tool(scope = " ")]
fn one() {}

fn main() {}
