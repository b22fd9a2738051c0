//! Text format for tool calls: prompt, parser and rendering for models without tool use.

mod announcement;
mod body;
mod cursor;
mod fence;
mod format;
mod instructions;
mod known_tools;
mod listing;
mod malformed;
mod mention;
mod object;
mod opening;
mod parser;
mod pending;
mod piece;
mod render;
#[cfg(test)]
mod tests;

pub use self::format::TextToolFormat;
pub(crate) use self::instructions::instructions;
pub(crate) use self::parser::TextParser;
pub(crate) use self::piece::Piece;
pub(crate) use self::render::{STOP_SEQUENCES, render};
