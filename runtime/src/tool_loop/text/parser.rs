//! Finds the calls in the text of a model, as it comes.

use treenail_schema::{JsonObject, Tool};

use crate::tool_loop::text::TextDialect;

/// A piece of what a model has written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Piece {
    /// Text to show and to keep. Text is given in as many pieces as it comes in.
    Text(String),
    /// A call. Whether there is such a tool, and whether it takes these arguments, is not looked at.
    Call { name: String, input: JsonObject },
    /// What was meant as a call and cannot be read as one. Nothing after it is taken for a call.
    Malformed {
        name: Option<String>,
        /// What the model has written, so that it can be shown its mistake.
        source: String,
        /// What is wrong and what to write, for the model.
        message: String,
    },
}

/// Finds the calls in one message of a model.
#[derive(Debug)]
pub(crate) struct TextParser {}

impl TextParser {
    /// One for the next message of a model that has been told of these tools.
    pub(crate) fn new(_dialect: &TextDialect, _tools: &[Tool]) -> Self {
        Self {}
    }

    /// Takes what has come, and gives what can be told of it already.
    pub(crate) fn push(&mut self, chunk: &str) -> Vec<Piece> {
        vec![Piece::Text(chunk.to_owned())]
    }

    /// The rest, when the message is complete.
    pub(crate) fn finish(&mut self) -> Vec<Piece> {
        Vec::new()
    }

    /// The rest, when the message was cut off, as by the largest number of tokens: a call at its very end is not complete.
    pub(crate) fn finish_cut_off(&mut self) -> Vec<Piece> {
        Vec::new()
    }
}
