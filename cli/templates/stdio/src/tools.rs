//! Tools of the server. The model reads the doc comments.

use treenail::prelude::*;

/// Adds two integers.
#[mcp_tool(read_only)]
pub async fn add(
    /// The first number
    a: i64,
    #[arg(default = 1)] b: i64,
) -> i64 {
    a + b
}

/// Divides two integers, rounded towards zero.
#[mcp_tool(read_only)]
pub async fn divide(dividend: i64, divisor: i64) -> Result<i64, ToolError> {
    let quotient = dividend.checked_div(divisor);
    quotient.ok_or_else(|| ToolError::new(format!("{dividend} cannot be divided by {divisor}")))
}
