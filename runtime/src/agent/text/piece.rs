//! What is found in the text of a model.

use treenail_schema::JsonObject;

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
