//! Tool names in the format of the endpoint.

use std::collections::{HashMap, HashSet};

use treenail_schema::{CreateMessageRequestParams, SamplingMessageContentBlock};

/// Maximum length of a name that endpoints accept, in characters.
const MAX_NAME_LEN: usize = 64;

/// Maximum length of the part before a number; names with the same part share their numbers.
const MAX_STEM_LEN: usize = 56;

/// Replacements for the tool names of a conversation that endpoints would reject.
///
/// The protocol allows dots, slashes and 128 characters. The mapping is deterministic for a conversation.
#[derive(Debug, Default)]
pub(crate) struct ToolNames {
    sent: HashMap<String, String>,
    original: HashMap<String, String>,
}

impl ToolNames {
    pub(super) fn from_request(request: &CreateMessageRequestParams) -> Self {
        let tools = request.tools.iter().flatten();
        let blocks = request.messages.iter().flat_map(|it| &it.content);
        let called = blocks.filter_map(|block| match block {
            SamplingMessageContentBlock::ToolUse(call) => Some(&*call.name),
            _ => None,
        });
        let names: Vec<_> = tools.map(|tool| &*tool.name).chain(called).collect();
        let mut tool_names = Self::default();
        // Valid names are reserved first, because they stay unchanged.
        let mut taken: HashSet<String> = names
            .iter()
            .filter(|name| is_valid(name))
            .map(|name| (*name).to_owned())
            .collect();
        let mut counts = HashMap::new();
        for name in names {
            if !is_valid(name) && !tool_names.sent.contains_key(name) {
                let sent = replacement(name, &taken, &mut counts);
                taken.insert(sent.clone());
                tool_names.original.insert(sent.clone(), name.to_owned());
                tool_names.sent.insert(name.to_owned(), sent);
            }
        }
        tool_names
    }

    /// Returns the name that is sent for a tool.
    pub(super) fn sent<'a>(&'a self, name: &'a str) -> &'a str {
        self.sent.get(name).map_or(name, String::as_str)
    }

    /// Returns the tool name for a sent name; unknown names are returned unchanged.
    pub(crate) fn original<'a>(&'a self, name: &'a str) -> &'a str {
        self.original.get(name).map_or(name, String::as_str)
    }
}

fn is_valid(name: &str) -> bool {
    (1..=MAX_NAME_LEN).contains(&name.len()) && name.bytes().all(is_allowed)
}

fn is_allowed(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// Returns a valid name that is not taken. `counts` has the last number after each stem, so that many names which
/// become equal take linear time.
fn replacement(name: &str, taken: &HashSet<String>, counts: &mut HashMap<String, u32>) -> String {
    let allowed = |c: char| u8::try_from(c).is_ok_and(is_allowed);
    let clean = name.chars().map(|c| if allowed(c) { c } else { '_' });
    let clean: String = clean.take(MAX_NAME_LEN).collect();
    let mut candidate = if clean.is_empty() {
        "_".to_owned()
    } else {
        clean.clone()
    };
    if !taken.contains(&candidate) {
        return candidate;
    }
    let stem = &clean[..clean.len().min(MAX_STEM_LEN)];
    let count = counts.entry(stem.to_owned()).or_insert(1);
    while taken.contains(&candidate) {
        *count += 1;
        let end = format!("_{count}");
        let room = MAX_NAME_LEN - end.len();
        candidate = format!("{}{end}", &clean[..clean.len().min(room)]);
    }
    candidate
}

#[cfg(test)]
mod tests {
    use treenail_schema::{JsonObject, Tool};

    use super::*;

    #[test]
    fn invalid_names_are_replaced_and_restored() {
        let long = "x".repeat(65);
        let longer = "x".repeat(70);
        let given = ["a.b", "a_b", "a/b", "ø", "", "ok-1", &long, &longer, "a.b"];
        let tools: Vec<_> = given
            .iter()
            .map(|name| Tool::new(*name, JsonObject::new()))
            .collect();
        let request = CreateMessageRequestParams::new([], 1).with_tools(tools);
        let names = ToolNames::from_request(&request);
        let cut = "x".repeat(64);
        let cut_again = format!("{}_2", "x".repeat(62));
        let expected = [
            "a_b_2", "a_b", "a_b_3", "_", "_2", "ok-1", &cut, &cut_again, "a_b_2",
        ];
        for (name, expected) in given.into_iter().zip(expected) {
            assert_eq!(names.sent(name), expected, "{name}");
            assert_eq!(names.original(names.sent(name)), name);
        }
        assert_eq!(names.original("made_up"), "made_up");
    }

    #[test]
    fn many_names_that_become_equal_are_distinguished() {
        // Names of one character, and long ones that differ in their last characters.
        let short = ('\u{4e00}'..).take(20_000).map(String::from);
        let ends = (0..10_000).flat_map(|number| [(number, 'æ'), (number, 'ø')]);
        let long = ends.map(|(number, end)| format!("{}{number:04}{end}", "x".repeat(60)));
        let given: Vec<String> = short.chain(long).collect();
        let tools: Vec<_> = given
            .iter()
            .map(|name| Tool::new(name, JsonObject::new()))
            .collect();
        let request = CreateMessageRequestParams::new([], 1).with_tools(tools);
        let names = ToolNames::from_request(&request);
        let sent: HashSet<&str> = given.iter().map(|name| names.sent(name)).collect();
        assert_eq!(sent.len(), given.len());
        assert!(sent.into_iter().all(is_valid));
    }
}
