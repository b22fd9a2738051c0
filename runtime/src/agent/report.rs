//! How a run has ended.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use treenail_schema::{Role, SamplingMessage};

use crate::agent::{Conversation, ModelError, RequestedCall, Usage};
use crate::client::ClientError;

/// How a run has ended, and what was said and done in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunReport {
    /// The conversation, with what the run began with. Each use of a tool in it has its result in the message that follows,
    /// so it can go on, or be replayed.
    pub transcript: Vec<SamplingMessage>,
    /// Why it ended.
    pub end: StopReason,
    /// What all messages of the model took, if the model says so.
    pub usage: Option<Usage>,
    /// How many messages the model has written.
    pub iterations: u32,
    /// The calls that the model has asked for, in their order.
    pub calls: Vec<CallRecord>,
    /// The name of the model that wrote the last message.
    pub model: Option<String>,
}

impl RunReport {
    /// What the model said last: the text of the last message, if that is the model's.
    pub fn message_text(&self) -> String {
        let last = self.transcript.last();
        last.filter(|message| message.role == Role::Assistant)
            .map(text)
            .unwrap_or_default()
    }
}

/// All text of a message.
pub(super) fn message_text(message: &SamplingMessage) -> String {
    let texts = message.content.iter().filter_map(|block| block.as_text());
    texts.collect::<Vec<_>>().join("\n")
}

impl From<RunReport> for Conversation {
    fn from(report: RunReport) -> Self {
        report.transcript.into()
    }
}

/// Why a run has ended.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum StopReason {
    /// The model has said what it had to say (`endTurn`, or no reason at all).
    Finished,
    /// The model has come to one of the texts at which it was to stop (`stopSequence`).
    StopSequence,
    /// The model has written as much as it may (`maxTokens`); what it said last may break off.
    MaxTokens,
    /// The model has stopped for a reason of its provider's.
    Stopped(String),
    /// [`max_iterations`](crate::agent::ToolLoopLimits::max_iterations) is reached.
    MaxIterations,
    /// [`timeout`](crate::agent::ToolLoopLimits::timeout) is over. Calls that had not ended were cancelled; the
    /// transcript says which.
    Timeout,
    /// A message was longer than [`message_bytes`](crate::agent::ToolLoopLimits::message_bytes); it is not in the
    /// transcript.
    MessageTooLong,
    /// The transcript is longer than [`transcript_bytes`](crate::agent::ToolLoopLimits::transcript_bytes).
    TranscriptFull,
    /// [`Run::cancel`](crate::agent::Run::cancel) has ended it.
    Cancelled,
    /// The run could not go on; the [`ToolLoopError`] that has the report says why.
    Failed,
}

/// A call that the model has asked for, and what became of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CallRecord {
    /// What it asked for.
    pub call: RequestedCall,
    /// Whether it failed, or was not made at all.
    pub is_error: bool,
}

/// Why a run could not go on. What was said and done until then is in its [`report`](Self::report).
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ToolLoopError {
    /// The model has no message.
    #[error("{error}")]
    #[non_exhaustive]
    Model {
        /// Why.
        error: ModelError,
        /// What was said and done until then.
        report: Box<RunReport>,
    },
    /// A source does not say which tools it has.
    #[error("the tools of `{name}` are not known: {error}")]
    #[non_exhaustive]
    Source {
        /// The name of the source.
        name: String,
        /// Why.
        error: Box<ClientError>,
        /// What was said and done until then.
        report: Box<RunReport>,
    },
    /// What the caller gave does not fit together: two sources of one name, a conversation that the protocol does not allow,
    /// a tool to be chosen that is not there, more tools than
    /// [`ToolLoopLimits::tools`](crate::agent::ToolLoopLimits::tools).
    #[error("{reason}")]
    #[non_exhaustive]
    Invalid {
        /// What is wrong.
        reason: Arc<str>,
        /// What was said and done until then.
        report: Box<RunReport>,
    },
}

impl ToolLoopError {
    /// What was said and done until then. It [has failed](StopReason::Failed), and its transcript can be gone on with.
    pub fn report(&self) -> &RunReport {
        match self {
            Self::Model { report, .. }
            | Self::Source { report, .. }
            | Self::Invalid { report, .. } => report,
        }
    }
}

/// Why a run stops, before there is a report.
#[derive(Debug)]
pub(super) enum Fault {
    Model(ModelError),
    Source(String, Box<ClientError>),
    Invalid(Arc<str>),
}

impl Fault {
    pub(super) fn invalid(reason: impl Into<Arc<str>>) -> Self {
        Self::Invalid(reason.into())
    }

    pub(super) fn with(self, report: RunReport) -> ToolLoopError {
        let report = Box::new(report);
        match self {
            Self::Model(error) => ToolLoopError::Model { error, report },
            Self::Source(name, error) => ToolLoopError::Source {
                name,
                error,
                report,
            },
            Self::Invalid(reason) => ToolLoopError::Invalid { reason, report },
        }
    }
}
