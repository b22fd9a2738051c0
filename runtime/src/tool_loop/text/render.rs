//! A conversation with calls of tools, as text.

use treenail_schema::SamplingMessage;

/// At what a model has to stop, where it can be told: it would make up the result of a call.
pub(crate) const STOP_SEQUENCES: [&str; 1] = ["\nRESULT of "];

/// A conversation as a model without tool use takes it: calls and results are text; text, images and audio stay.
pub(crate) fn render(messages: &[SamplingMessage]) -> Vec<SamplingMessage> {
    messages.to_vec()
}
