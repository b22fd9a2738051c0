//! The tool loop: runs a language model with tools until it is done.
//!
//! [`ToolLoop`] says what a run is made of, and begins it; a [`Run`] is a future with a [`RunReport`] and a stream of [`RunEvent`]s.
//! A reader finds here: `model` (what a language model is) and `scripted` (one for tests), `agent` (what a run is made of),
//! `source`, `catalog` and `names` (the tools), `approval` (which calls may be made), `run` (how it runs), `ask` (one question
//! to a model), `text` (models without tool use), `written` (calls whose arguments are text), `arguments` and `results` (what
//! goes into a tool and comes out of it), `paused` and `report` (what is left of a run), `sampling` and `context` (models at
//! the other end of a connection), `openai` (one behind an endpoint).

mod approval;
mod arguments;
mod call_ids;
mod catalog;
mod checkpoint;
mod context;
mod conversation;
mod event;
mod limits;
mod model;
mod model_call;
mod names;
#[cfg(feature = "openai")]
mod openai;
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
pub use self::context::ContextModel;
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
