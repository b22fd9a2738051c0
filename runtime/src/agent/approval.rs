//! Whether a call may be made, before it is made.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use treenail_schema::{JsonObject, Tool};

/// A call that the model has asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RequestedCall {
    /// Tells it from all other calls of the conversation.
    pub id: String,
    /// The tool, by the name that the model knows it by.
    pub name: String,
    /// The source that has the tool; `None` if no source has one of this name.
    pub source: Option<String>,
    /// The name that its source gives the tool; `None` if no source has one of this name.
    pub tool: Option<String>,
    /// The arguments: what the model has written, and, once they have been looked at, what the tool gets.
    pub input: JsonObject,
}

/// A call that somebody or something has to decide on.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ApprovalRequest {
    /// The call. Its arguments are those that the tool will get, and have been checked against its schema if that can be
    /// done.
    pub call: RequestedCall,
    /// Why the arguments could not be checked, if that is so: the schema cannot be used, or it would take too long. The server
    /// checks them all the same, or should.
    pub unchecked: Option<String>,
    /// The tool as its server describes it. What it says of itself, its annotations too, is as trustworthy as the server.
    pub tool: Arc<Tool>,
    /// What its source is trusted with.
    pub trust: Trust,
}

/// What becomes of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Approval {
    /// It is made.
    Allow,
    /// It is not made, and the model is told why.
    Deny(String),
    /// The one who reads the events of the run is asked ([`RunEvent::ApprovalRequested`](crate::agent::RunEvent::ApprovalRequested)),
    /// and the call waits. If nobody reads them, it is not made, and the model is told that.
    Ask,
}

/// What a source of tools is trusted with, for [`Approval::by_annotations`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Trust {
    /// Nothing that it says of its tools is believed: each call asks.
    Untrusted,
    /// Its annotations are believed: what the protocol calls a trusted server.
    #[default]
    Annotations,
    /// Its tools run, whatever they do and say of themselves: no call asks.
    Full,
}

impl Approval {
    /// What happens where [`ToolLoop::approve`](crate::agent::ToolLoop::approve) sets no other policy.
    ///
    /// | the tool says of itself | |
    /// |---|---|
    /// | `readOnlyHint` true | allowed, unless `openWorldHint` is true: what is looked up outside can carry secrets there |
    /// | `destructiveHint` and `openWorldHint` both false | allowed |
    /// | anything else, and nothing at all | asks, since that is what the protocol says of tools that do not say |
    ///
    /// Annotations are hints of a server, and a server that lies has its tools run. The protocol demands that they decide
    /// nothing unless the server is trusted. **A source that the program names counts as trusted in this sense**; one that
    /// is not is to be marked with [`ToolSource::untrusted`](crate::agent::ToolSource::untrusted), and then all of its
    /// calls ask.
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

/// A function that decides on calls.
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
    fn annotations_decide_as_far_as_they_are_trusted() {
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
