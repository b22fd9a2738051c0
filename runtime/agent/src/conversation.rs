//! Initial messages of a run.

use treenail_schema::{Role, SamplingMessage, SamplingMessageContentBlock};

/// Initial messages of a run: a text, messages, or an earlier conversation to continue.
///
/// ```
/// use treenail::agent::{Conversation, RunReport};
///
/// let first = Conversation::from("Do I need an umbrella in Oslo?");
/// assert_eq!(first.messages().len(), 1);
///
/// fn go_on(report: RunReport) -> Conversation {
///     Conversation::from(report).user("And in Bergen?")
/// }
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conversation {
    messages: Vec<SamplingMessage>,
}

impl Conversation {
    /// Creates an empty conversation.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a user message.
    #[must_use]
    pub fn user(self, text: impl Into<String>) -> Self {
        self.message(text_message(Role::User, text))
    }

    /// Appends an assistant message.
    #[must_use]
    pub fn assistant(self, text: impl Into<String>) -> Self {
        self.message(text_message(Role::Assistant, text))
    }

    /// Appends a message.
    #[must_use]
    pub fn message(mut self, message: SamplingMessage) -> Self {
        self.messages.push(message);
        self
    }

    /// Returns all messages in order.
    pub fn messages(&self) -> &[SamplingMessage] {
        &self.messages
    }

    /// Returns all messages in order.
    pub fn into_messages(self) -> Vec<SamplingMessage> {
        self.messages
    }
}

fn text_message(role: Role, text: impl Into<String>) -> SamplingMessage {
    SamplingMessage::new(role, vec![SamplingMessageContentBlock::text(text)])
}

impl From<&str> for Conversation {
    fn from(text: &str) -> Self {
        Self::new().user(text)
    }
}

impl From<String> for Conversation {
    fn from(text: String) -> Self {
        Self::new().user(text)
    }
}

impl From<SamplingMessage> for Conversation {
    fn from(message: SamplingMessage) -> Self {
        Self::new().message(message)
    }
}

impl From<Vec<SamplingMessage>> for Conversation {
    fn from(messages: Vec<SamplingMessage>) -> Self {
        Self { messages }
    }
}

impl From<&[SamplingMessage]> for Conversation {
    fn from(messages: &[SamplingMessage]) -> Self {
        messages.to_vec().into()
    }
}
