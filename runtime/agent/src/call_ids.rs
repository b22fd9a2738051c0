//! Unique ids of calls.

use std::collections::HashSet;

use treenail_schema::{SamplingMessage, ToolUseContent};

use crate::model_call::as_tool_use;

/// Ids of the calls in a conversation.
pub(super) struct CallIds(HashSet<String>);

impl CallIds {
    pub(super) fn from_messages(messages: &[SamplingMessage]) -> Self {
        let blocks = messages.iter().flat_map(|message| &message.content);
        Self(
            blocks
                .filter_map(as_tool_use)
                .map(|it| it.id.clone())
                .collect(),
        )
    }

    /// Makes the id of a call unique. Some models omit ids, or restart numbering with each message.
    pub(super) fn make_unique(&mut self, tool_use: &mut ToolUseContent) {
        if tool_use.id.is_empty() {
            "call".clone_into(&mut tool_use.id);
        }
        let given = tool_use.id.clone();
        let mut number = 1;
        while !self.0.insert(tool_use.id.clone()) {
            number += 1;
            tool_use.id = format!("{given}-{number}");
        }
    }
}
