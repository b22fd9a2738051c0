//! The text dialect: how a model without tool use is told of tools, and calls them.

mod dialect;
mod instructions;
mod parser;
mod render;

pub use self::dialect::TextDialect;
pub(crate) use self::instructions::instructions;
pub(crate) use self::parser::{Piece, TextParser};
pub(crate) use self::render::{STOP_SEQUENCES, render};
