//! Lints of clippy that are off by default have no findings in generated code.

#![deny(
    clippy::absolute_paths,
    clippy::impl_trait_in_params,
    clippy::missing_docs_in_private_items
)]

use treenail::prelude::*;
use treenail::tool::ToolSet;

/// Function with bounds.
#[mcp_tool]
pub fn bounded(
    #[arg(default = 1, range = 1..=7)] number: u8,
    #[arg(length = 1..=7, header = "Word")] word: String,
) -> String {
    word.repeat(usize::from(number))
}

/// Form with bounds.
#[mcp_form]
#[derive(Debug)]
pub struct Form {
    /// A number.
    #[field(default = 1, range = 1..=7)]
    pub number: u8,
    /// A text.
    #[field(length = 1..=7, format = "email")]
    pub text: String,
}

/// Contract with bounds.
#[mcp_client]
pub trait Inner {
    /// A number.
    async fn number(&self, #[arg(range = 1..=7)] number: u8) -> Result<u8, ToolError>;

    /// A default on one line.
    #[rustfmt::skip]
    async fn provided(&self) -> Result<u8, ToolError> { Ok(1) }
}

/// Contract with a part.
#[mcp_client]
pub trait Outer {
    /// The part.
    #[namespace]
    fn inner(&self) -> &impl Inner;
}

/// All functions.
pub fn all() -> ToolSet {
    tools![bounded]
}
