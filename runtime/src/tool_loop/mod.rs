//! The tool loop: runs a language model with tools until it is done.
//!
//! `model` is what a language model is here; `written` reads the calls of tools that it writes.

mod model;
mod written;

pub use self::model::{Model, ModelError, ModelFeatures, ModelFuture, ModelReply, OnText, Usage};
pub use self::written::{WRITTEN_ARGUMENTS, tool_use};
