//! The tool loop: runs a language model with tools until it is done.
//!
//! `model` is what a language model is here; `written` reads the calls of tools that it writes. `openai` is a model behind an
//! endpoint.

mod model;
#[cfg(feature = "openai")]
mod openai;
mod written;

pub use self::model::{Model, ModelError, ModelFeatures, ModelFuture, ModelReply, OnText, Usage};
#[cfg(feature = "openai")]
pub use self::openai::{ApiKey, MaxTokensField, OpenAiLimits, OpenAiModel, OpenAiModelBuilder};
pub use self::written::{WRITTEN_ARGUMENTS, tool_use};
