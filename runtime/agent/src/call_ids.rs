//! Unique ids of calls.

use std::collections::{HashMap, HashSet};

use treenail_schema::{SamplingMessage, SamplingMessageContentBlock as Block, ToolUseContent};

use crate::model_call::as_tool_use;

/// Ids of the calls in a conversation.
pub(super) struct CallIds {
    taken: HashSet<String>,
    /// The last number that was appended to each id, so that many equal ids take linear time.
    last: HashMap<String, u32>,
}

impl CallIds {
    pub(super) fn from_messages(messages: &[SamplingMessage]) -> Self {
        let blocks = messages.iter().flat_map(|message| &message.content);
        Self {
            taken: blocks
                .filter_map(as_tool_use)
                .map(|it| it.id.clone())
                .collect(),
            last: HashMap::new(),
        }
    }

    /// Makes the ids of all calls in a message unique.
    pub(super) fn make_all_unique(&mut self, content: &mut [Block]) {
        for block in content {
            if let Block::ToolUse(tool_use) = block {
                self.make_unique(tool_use);
            }
        }
    }

    /// Makes the id of a call unique. Some models omit ids, or restart numbering with each message.
    pub(super) fn make_unique(&mut self, tool_use: &mut ToolUseContent) {
        if tool_use.id.is_empty() {
            "call".clone_into(&mut tool_use.id);
        }
        if self.taken.insert(tool_use.id.clone()) {
            return;
        }
        let given = std::mem::take(&mut tool_use.id);
        let last = self.last.entry(given.clone()).or_insert(1);
        loop {
            *last += 1;
            tool_use.id = format!("{given}-{last}");
            if self.taken.insert(tool_use.id.clone()) {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use treenail_schema::JsonObject;

    use super::*;

    #[test]
    fn many_equal_ids_become_unique() {
        let mut call_ids = CallIds::from_messages(&[]);
        let mut unique = |id: &str| {
            let mut call = ToolUseContent::new(id, "tool", JsonObject::new());
            call_ids.make_unique(&mut call);
            call.id
        };
        assert_eq!(unique("call-3"), "call-3");
        let ids: Vec<String> = (0..20_000).map(|_| unique("")).collect();
        assert_eq!(ids[..4], ["call", "call-2", "call-4", "call-5"]);
        assert_eq!(ids.iter().collect::<HashSet<_>>().len(), 20_000);
        assert_eq!(unique("call-3"), "call-3-2");
    }
}
