//! Pieces of a model's message.

use treenail_schema::JsonObject;

/// Piece of a model's message.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Piece {
    /// Text to display and retain; one text may arrive as several pieces.
    Text(String),
    /// A call. The name and the arguments are not validated yet.
    Call { name: String, input: JsonObject },
    /// A malformed call. No calls are recognized after it.
    Malformed {
        name: Option<String>,
        /// Raw text of the call, to show the model its mistake.
        source: String,
        /// Error message and correction, for the model.
        message: String,
    },
}
