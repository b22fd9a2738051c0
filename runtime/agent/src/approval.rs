//! Approval of tool calls before they run.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use treenail_schema::{JsonObject, Tool};

/// A tool call that the model has requested.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RequestedCall {
    /// Id of the call, unique within the conversation.
    pub id: String,
    /// Name of the tool as the model sees it.
    pub name: String,
    /// Source of the tool; `None` if no source has a tool of this name.
    pub source: Option<String>,
    /// Name of the tool at its source; `None` if no source has a tool of this name.
    pub tool: Option<String>,
    /// Arguments: first as the model wrote them, then, after validation, as the tool receives them.
    pub input: JsonObject,
}

/// A call that is waiting for a decision.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ApprovalRequest {
    /// The call. Its arguments are those that the tool will receive; they have been validated against the schema if
    /// possible.
    pub call: RequestedCall,
    /// Reason why the arguments could not be validated, if so: the schema is unusable, or validation would take too
    /// long. The server should validate them anyway.
    pub unchecked: Option<String>,
    /// Definition of the tool as its server declares it. Its description and annotations are only as trustworthy as the
    /// server.
    pub tool: Arc<Tool>,
    /// Trust level of the source.
    pub trust: Trust,
}

/// Decision about a call.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Approval {
    /// Run the call.
    Allow,
    /// Do not run the call, and report the reason to the model.
    Deny(String),
    /// Ask the consumer of the run's events
    /// ([`RunEvent::ApprovalRequested`](crate::RunEvent::ApprovalRequested)); the call waits. If no consumer
    /// reads the events, the call is denied and the model is informed.
    Ask,
}

/// Trust level of a tool source, for [`Approval::by_annotations`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Trust {
    /// Ignores the annotations of its tools: each call needs approval.
    Untrusted,
    /// Believes the annotations of its tools; the protocol calls this a trusted server.
    #[default]
    Annotations,
    /// Runs all of its tools without approval, regardless of their annotations.
    Full,
}

impl Approval {
    /// Default policy, which [`ToolLoop::approve`](crate::ToolLoop::approve) replaces.
    ///
    /// | annotations of the tool | decision |
    /// |---|---|
    /// | `readOnlyHint` true | allowed, unless `openWorldHint` is true, because a request to the outside can leak secrets |
    /// | `destructiveHint` and `openWorldHint` both false | allowed |
    /// | any other, or none | asks, because the protocol assumes the worst for missing hints |
    ///
    /// Annotations are unverified hints: a dishonest server gets its tools run. The protocol requires clients to ignore
    /// them unless the server is trusted. **Each source that the program adds counts as trusted in this sense.** Mark
    /// others with [`ToolSource::untrusted`](crate::ToolSource::untrusted); then each of their calls asks.
    pub fn by_annotations(request: &ApprovalRequest) -> Self {
        match request.trust {
            Trust::Untrusted => return Self::Ask,
            Trust::Full => return Self::Allow,
            Trust::Annotations => {}
        }
        let Some(hints) = &request.tool.annotations else {
            return Self::Ask;
        };
        let harmless = if hints.read_only_hint == Some(true) {
            hints.open_world_hint != Some(true)
        } else {
            hints.destructive_hint == Some(false) && hints.open_world_hint == Some(false)
        };
        if harmless { Self::Allow } else { Self::Ask }
    }
}

/// Function that decides about calls.
#[derive(Clone)]
pub(super) struct ApprovalPolicy(Arc<dyn Fn(&ApprovalRequest) -> Approval + Send + Sync>);

impl ApprovalPolicy {
    pub(super) fn new(
        policy: impl Fn(&ApprovalRequest) -> Approval + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(policy))
    }

    pub(super) fn decide(&self, request: &ApprovalRequest) -> Approval {
        (self.0)(request)
    }
}

impl Default for ApprovalPolicy {
    fn default() -> Self {
        Self::new(Approval::by_annotations)
    }
}

impl fmt::Debug for ApprovalPolicy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ApprovalPolicy")
    }
}

#[cfg(test)]
mod tests {
    use treenail_schema::{JsonObject, ToolAnnotations};

    use super::*;

    fn decide(trust: Trust, hints: Option<[Option<bool>; 3]>) -> Approval {
        let mut tool = Tool::new("t", JsonObject::new());
        tool.annotations = hints.map(|[read_only, destructive, open_world]| {
            let mut hints = ToolAnnotations::new();
            hints.read_only_hint = read_only;
            hints.destructive_hint = destructive;
            hints.open_world_hint = open_world;
            hints
        });
        let call = RequestedCall {
            id: "1".to_owned(),
            name: "t".to_owned(),
            source: Some("s".to_owned()),
            tool: Some("t".to_owned()),
            input: JsonObject::new(),
        };
        Approval::by_annotations(&ApprovalRequest {
            call,
            unchecked: None,
            tool: Arc::new(tool),
            trust,
        })
    }

    #[test]
    fn annotations_decide_only_for_trusted_sources() {
        use Approval::{Allow, Ask};

        const YES: Option<bool> = Some(true);
        const NO: Option<bool> = Some(false);
        let table = [
            (None, Ask),
            (Some([None, None, None]), Ask),
            (Some([YES, None, None]), Allow),
            (Some([YES, YES, NO]), Allow),
            (Some([YES, None, YES]), Ask),
            (Some([NO, NO, NO]), Allow),
            (Some([None, NO, NO]), Allow),
            (Some([None, NO, None]), Ask),
            (Some([None, NO, YES]), Ask),
            (Some([None, None, NO]), Ask),
            (Some([NO, YES, NO]), Ask),
        ];
        for (hints, expected) in table {
            let decided = decide(Trust::Annotations, hints);
            assert_eq!(decided, expected, "CLI-TOOL-03, SRV-TOOL-08: {hints:?}");
            assert_eq!(
                decide(Trust::Untrusted, hints),
                Ask,
                "CLI-TOOL-03: {hints:?}"
            );
            assert_eq!(decide(Trust::Full, hints), Allow);
        }
    }
}
