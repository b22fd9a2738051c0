//! Result of a run.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use treenail_runtime::client::ClientError;
use treenail_schema::{Role, SamplingMessage};

use crate::{Conversation, ModelError, RequestedCall, Usage};

/// Result of a run, with its transcript and calls.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunReport {
    /// Conversation, including the initial messages. Each tool use has its result in the following message, so the
    /// transcript can be continued or replayed.
    pub transcript: Vec<SamplingMessage>,
    /// Reason why the run ended.
    #[serde(rename = "end")]
    pub stop_reason: StopReason,
    /// Token usage of all model messages, if the model reports it.
    pub usage: Option<Usage>,
    /// Number of model messages.
    pub iterations: u32,
    /// Calls that the model requested, in order.
    pub calls: Vec<CallRecord>,
    /// Name of the model that wrote the last message.
    pub model: Option<String>,
    /// Submitted output, if the loop requests one with [`ToolLoop::output`](crate::ToolLoop::output), and the model has submitted
    /// a valid one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
}

impl RunReport {
    /// Returns the text of the last message, if the model wrote it.
    pub fn text(&self) -> String {
        let last = self.transcript.last();
        last.filter(|message| message.role == Role::Assistant)
            .map(message_text)
            .unwrap_or_default()
    }

    /// Returns the submitted output as a `T`, the type of [`ToolLoop::output`](crate::ToolLoop::output).
    ///
    /// # Errors
    ///
    /// [`ToolLoopError::Output`] if the model has not submitted a valid output before the run ended, or if the output does not
    /// fit another type.
    pub fn output_as<T: DeserializeOwned>(&self) -> Result<T, ToolLoopError> {
        let reason = match &self.output {
            None => format!("the run ended without an output ({:?})", self.stop_reason),
            Some(output) => match T::deserialize(output) {
                Ok(output) => return Ok(output),
                Err(error) => format!("the output does not fit the type: {error}"),
            },
        };
        Err(ToolLoopError::Output {
            reason: reason.into(),
            report: Box::new(self.clone()),
        })
    }
}

/// Returns all text of a message.
pub(super) fn message_text(message: &SamplingMessage) -> String {
    let texts = message.content.iter().filter_map(|block| block.as_text());
    texts.collect::<Vec<_>>().join("\n")
}

impl From<RunReport> for Conversation {
    fn from(report: RunReport) -> Self {
        report.transcript.into()
    }
}

/// Reason why a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum StopReason {
    /// The model finished (`endTurn`, or no reason given).
    Finished,
    /// The model reached a stop sequence (`stopSequence`).
    StopSequence,
    /// The model reached its token limit (`maxTokens`); its last message may be incomplete.
    MaxTokens,
    /// The model stopped for a provider-specific reason.
    Stopped(String),
    /// The run reached [`max_iterations`](crate::ToolLoopLimits::max_iterations).
    MaxIterations,
    /// The run reached its [`timeout`](crate::ToolLoopLimits::timeout). Calls in flight were cancelled, which
    /// the transcript records.
    Timeout,
    /// A message exceeded [`message_bytes`](crate::ToolLoopLimits::message_bytes); it is not in the transcript.
    MessageTooLong,
    /// The transcript exceeded [`transcript_bytes`](crate::ToolLoopLimits::transcript_bytes).
    TranscriptFull,
    /// The model messages used [`total_tokens`](crate::ToolLoopLimits::total_tokens).
    TotalTokens,
    /// [`Run::cancel`](crate::Run::cancel) ended the run.
    Cancelled,
    /// The run failed; the report is part of a [`ToolLoopError`].
    Failed,
}

/// A requested call and its outcome.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CallRecord {
    /// The call.
    pub call: RequestedCall,
    /// True if the call failed or was not run.
    pub is_error: bool,
}

/// Failure of a run. Its [`report`](Self::report) contains the transcript up to the failure.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ToolLoopError {
    /// The model failed.
    #[non_exhaustive]
    Model {
        /// Cause of the failure.
        error: ModelError,
        /// Report up to the failure.
        report: Box<RunReport>,
    },
    /// The tools of a source could not be listed.
    #[non_exhaustive]
    Source {
        /// Name of the source.
        name: String,
        /// Cause of the failure.
        error: Box<ClientError>,
        /// Report up to the failure.
        report: Box<RunReport>,
    },
    /// The configuration or the conversation is invalid: duplicate source names, messages that the protocol forbids, an
    /// unknown tool in the tool choice, a source with none of the tools of [`ToolSource::only`](crate::ToolSource::only), more tools than [`ToolLoopLimits::tools`](crate::ToolLoopLimits::tools).
    #[non_exhaustive]
    Invalid {
        /// Cause of the failure.
        reason: Arc<str>,
        /// Report up to the failure.
        report: Box<RunReport>,
    },
    /// A run that has ended has no output of the requested type; see [`RunReport::output_as`].
    #[non_exhaustive]
    Output {
        /// Cause of the failure.
        reason: Arc<str>,
        /// Report of the run.
        report: Box<RunReport>,
    },
}

impl ToolLoopError {
    /// Returns the report up to the failure. Its transcript can be continued. Its reason is [`StopReason::Failed`], unless only
    /// the output is missing.
    pub fn report(&self) -> &RunReport {
        match self {
            Self::Model { report, .. }
            | Self::Source { report, .. }
            | Self::Invalid { report, .. }
            | Self::Output { report, .. } => report,
        }
    }
}

impl fmt::Display for ToolLoopError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Model { error, .. } => error.fmt(formatter),
            Self::Source { name, error, .. } => {
                write!(formatter, "failed to list the tools of `{name}`: {error}")
            }
            Self::Invalid { reason, .. } | Self::Output { reason, .. } => {
                formatter.write_str(reason)
            }
        }
    }
}

/// The text of the inner error is part of the message, so the source is its cause.
impl Error for ToolLoopError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Model { error, .. } => error.source(),
            Self::Source { error, .. } => error.source(),
            Self::Invalid { .. } | Self::Output { .. } => None,
        }
    }
}

/// Failure of a run, without its report.
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

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("the broker did not answer")]
    struct BrokerError(#[source] io::Error);

    #[test]
    fn the_cause_of_a_failed_source_follows_its_message() {
        let report = RunReport {
            transcript: Vec::new(),
            stop_reason: StopReason::Failed,
            usage: None,
            iterations: 0,
            calls: Vec::new(),
            model: None,
            output: None,
        };
        let broker = BrokerError(io::Error::other("connection reset"));
        let error = Box::new(ClientError::authorization(broker));
        let failed = Fault::Source("desk".to_owned(), error).with(report);
        assert_eq!(
            failed.to_string(),
            "failed to list the tools of `desk`: no authorization: the broker did not answer"
        );
        let cause = failed.source().map(ToString::to_string);
        assert_eq!(cause.as_deref(), Some("connection reset"));
    }
}
