//! The tool loop: runs a language model with tools until it is done.
//!
//! [`ToolLoop`] says what a run is made of, and begins it; a [`Run`] is a future with a [`Report`] and a stream of [`Event`]s.
//! A reader finds here: `model` (what a language model is) and `scripted` (one for tests), `agent` (what a run is made of),
//! `source`, `catalog` and `names` (the tools), `approval` (which calls may be made), `run` (how it runs), `ask` (one question
//! to a model), `text` (models without tool use), `written` (calls whose arguments are text), `arguments` and `results` (what
//! goes into a tool and comes out of it), `paused` and `report` (what is left of a run), `sampling` and `context` (models at
//! the other end of a connection), `openai` (one behind an endpoint).

mod agent;
mod approval;
mod arguments;
mod ask;
mod catalog;
mod context;
mod conversation;
mod event;
mod ids;
mod limits;
mod model;
mod names;
#[cfg(feature = "openai")]
mod openai;
mod paused;
mod report;
mod results;
mod run;
mod sampling;
mod scripted;
mod source;
mod text;
mod written;

pub use self::agent::{ToolChoice, ToolLoop};
pub use self::approval::{Approval, ApprovalRequest, RequestedCall, Trust};
pub use self::context::ContextModel;
pub use self::conversation::Conversation;
pub use self::event::Event;
pub use self::limits::ToolLoopLimits;
pub use self::model::{
    Journal, Model, ModelError, ModelFeatures, ModelFuture, ModelReply, OnText, Usage,
};
#[cfg(feature = "openai")]
pub use self::openai::{ApiKey, MaxTokensField, OpenAiLimits, OpenAiModel, OpenAiModelBuilder};
pub use self::paused::PausedRun;
pub use self::report::{CallRecord, EndReason, Report, ToolLoopError};
pub use self::run::Run;
pub use self::sampling::SamplingModel;
pub use self::scripted::{ScriptedModel, ScriptedReply};
pub use self::source::ToolSource;
pub use self::text::TextDialect;
pub use self::written::{WRITTEN_ARGUMENTS, tool_use};
