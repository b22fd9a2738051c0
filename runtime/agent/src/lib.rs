//! Tool loop: runs a language model with tools until the model has finished.
//!
//! Use the crate `treenail`, which re-exports all of this in `treenail::agent`.
//!
//! A [`ToolLoop`] holds the configuration of runs and starts them. A [`Run`] is a future that resolves to a
//! [`RunReport`] and a stream of [`RunEvent`]s.

// Modules:
//
// - `tool_loop`: the builder; `limits`: its bounds.
// - `model`: the trait of language models; `scripted`: a model for tests; `openai`: a model behind an HTTP endpoint;
//   `sampling` and `context`: models at the other end of an MCP connection.
// - `source`, `catalog`, `names`: tool sources, and the table of tools by the names that the model uses.
// - `approval`: the policy that decides which calls may run.
// - `run`: the engine; `model_call`: one request to a model; `arguments`: validation and repair of arguments;
//   `results`: tool results as content for a model.
// - `text`: tool calls for models without tool use; `raw_arguments`: calls whose arguments arrive as text.
// - `output`: the tool with which a model submits the output of a run, as a value of a type.
// - `checkpoint` and `report`: the state of a run, and its result.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod approval;
mod arguments;
mod call_ids;
mod catalog;
mod checkpoint;
mod client_builder;
mod context;
mod conversation;
mod error;
mod event;
mod limits;
mod model;
mod model_call;
mod names;
#[cfg(feature = "openai")]
mod openai;
mod output;
mod raw_arguments;
mod report;
mod results;
mod run;
mod sampling;
mod scripted;
mod source;
mod text;
mod tool_loop;

pub use self::approval::{Approval, ApprovalRequest, RequestedCall, Trust};
pub use self::checkpoint::PausedRun;
pub use self::client_builder::ClientBuilderExt;
pub use self::context::{ContextExt, ContextModel};
pub use self::conversation::Conversation;
pub use self::event::RunEvent;
pub use self::limits::ToolLoopLimits;
pub use self::model::{
    Journal, Model, ModelCapabilities, ModelError, ModelFuture, ModelReply, TextSink, Usage,
};
#[cfg(feature = "openai")]
pub use self::openai::{ApiKey, MaxTokensField, OpenAiLimits, OpenAiModel, OpenAiModelBuilder};
pub use self::raw_arguments::{RAW_ARGUMENTS, tool_use_from_raw};
pub use self::report::{CallRecord, RunReport, StopReason, ToolLoopError};
pub use self::run::Run;
pub use self::sampling::SamplingModel;
pub use self::scripted::{ScriptedModel, ScriptedReply};
pub use self::source::ToolSource;
pub use self::text::TextToolFormat;
pub use self::tool_loop::{ToolChoice, ToolLoop};
