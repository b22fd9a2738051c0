//! The tool loop: runs a language model with tools until it is done.
//!
//! `model` is what a language model is here. `text` is how one without tool use calls tools, `arguments` makes what a model
//! gave fit what a tool takes, and `results` makes of what a tool gave what a model can read.

#[allow(dead_code, unused_imports, reason = "the loop that uses it follows")]
mod arguments;
mod model;
#[allow(dead_code, unused_imports, reason = "the loop that uses it follows")]
mod results;
#[allow(dead_code, unused_imports, reason = "the loop that uses it follows")]
mod text;

pub use self::model::{Model, ModelError, ModelFeatures, ModelFuture, ModelReply, OnText, Usage};
pub use self::text::TextDialect;
