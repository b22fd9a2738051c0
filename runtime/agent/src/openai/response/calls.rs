//! Assembly of streamed tool calls.

use treenail_schema::ToolUseContent;

use super::chunk::{CallDelta, arguments_of};
use crate::openai::request::ToolNames;
use crate::tool_use_from_raw;

/// Calls of a message so far, in the order of their first chunks.
#[derive(Debug, Default)]
pub(super) struct CallAssembler(Vec<Call>);

#[derive(Debug)]
struct Call {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
}

impl CallAssembler {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a chunk and returns the number of bytes stored.
    pub(super) fn push(&mut self, delta: CallDelta<'_>, max: usize) -> Result<usize, String> {
        let id = delta.id.unwrap_or_default();
        let function = delta.function;
        let (name, arguments) = match &function {
            Some(function) => (function.name.as_deref(), function.arguments),
            None => (None, None),
        };
        let name = name.unwrap_or_default();
        let at = self.find(delta.index, &id, name);
        let call = match at {
            Some(at) => &mut self.0[at],
            None if self.0.len() >= max => {
                return Err(format!("the message has more than {max} tool calls"));
            }
            None => {
                self.0.push(Call {
                    index: delta.index,
                    id: String::new(),
                    name: String::new(),
                    arguments: String::new(),
                });
                // The entry was pushed just now.
                let at = self.0.len() - 1;
                &mut self.0[at]
            }
        };
        let mut size = 0;
        if call.id.is_empty() {
            size += id.len();
            call.id.push_str(&id);
        }
        // Some endpoints repeat the name in each chunk.
        if call.name.is_empty() {
            size += name.len();
            call.name.push_str(name);
        }
        if let Some(arguments) = arguments {
            let arguments = arguments_of(arguments);
            size += arguments.len();
            call.arguments.push_str(&arguments);
        }
        Ok(size)
    }

    /// Finds the call to which a chunk belongs; `None` if it starts a new one.
    ///
    /// Calls are identified by index. Some endpoints send the same index for all calls, or none: then a different id,
    /// or a name after arguments, starts a new call.
    fn find(&self, index: Option<u64>, id: &str, name: &str) -> Option<usize> {
        let at = match index {
            Some(_) => self.0.iter().rposition(|call| call.index == index)?,
            None => self.0.len().checked_sub(1)?,
        };
        let call = &self.0[at];
        let other_id = !id.is_empty() && !call.id.is_empty() && call.id != id;
        let other_call =
            index.is_none() && id.is_empty() && !name.is_empty() && !call.name.is_empty();
        (!other_id && !other_call).then_some(at)
    }

    /// Converts the calls to the protocol's format. Missing ids are generated from the turn.
    pub(super) fn into_tool_uses(self, turn: usize, names: &ToolNames) -> Vec<ToolUseContent> {
        let calls = self.0.into_iter().enumerate();
        let calls = calls.map(|(count, call)| {
            let id = if call.id.is_empty() {
                format!("call_{turn}_{count}")
            } else {
                call.id
            };
            tool_use_from_raw(id, names.original(&call.name), &call.arguments)
        });
        calls.collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(pieces: &[&str], expected: &[(&str, &str, &str)]) {
        let mut calls = CallAssembler::default();
        for piece in pieces {
            calls.push(serde_json::from_str(piece).unwrap(), 3).unwrap();
        }
        let uses = calls.into_tool_uses(4, &ToolNames::default());
        let uses: Vec<_> = uses
            .iter()
            .map(|call| (&*call.id, &*call.name, json!(call.input).to_string()))
            .collect();
        let uses: Vec<_> = uses
            .iter()
            .map(|(id, name, input)| (*id, *name, &**input))
            .collect();
        assert_eq!(uses, expected, "{pieces:?}");
    }

    #[test]
    fn chunks_are_assigned_to_their_call() {
        // The format of OpenAI.
        check(
            &[
                r#"{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":""}}"#,
                r#"{"index":0,"function":{"arguments":"{\"x\":"}}"#,
                r#"{"index":1,"id":"b","function":{"name":"g","arguments":"{}"}}"#,
                r#"{"index":0,"function":{"arguments":"1}"}}"#,
            ],
            &[("a", "f", r#"{"x":1}"#), ("b", "g", "{}")],
        );
        // The same index for all calls, each in one chunk.
        check(
            &[
                r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}"#,
                r#"{"index":0,"id":"b","function":{"name":"f","arguments":"{\"x\":1}"}}"#,
            ],
            &[("a", "f", "{}"), ("b", "f", r#"{"x":1}"#)],
        );
        // Neither index nor id.
        check(
            &[
                r#"{"function":{"name":"f","arguments":"{\"x\""}}"#,
                r#"{"function":{"arguments":":1}"}}"#,
                r#"{"id":"","function":{"name":"g","arguments":{"y":2}}}"#,
                r#"{"function":null}"#,
            ],
            &[
                ("call_4_0", "f", r#"{"x":1}"#),
                ("call_4_1", "g", r#"{"y":2}"#),
            ],
        );
        // Name and id in each chunk.
        check(
            &[
                r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}"#,
                r#"{"index":0,"id":"a","function":{"name":"f","arguments":"}"}}"#,
                r#"{"index":0,"id":null,"function":{"name":null,"arguments":null}}"#,
            ],
            &[("a", "f", "{}")],
        );
    }

    #[test]
    fn the_number_of_calls_is_limited() {
        let mut calls = CallAssembler::default();
        let piece = |index| format!(r#"{{"index":{index},"id":"i{index}"}}"#);
        for index in 0..2 {
            calls
                .push(serde_json::from_str(&piece(index)).unwrap(), 2)
                .unwrap();
        }
        let taken = calls.push(serde_json::from_str(&piece(2)).unwrap(), 2);
        assert_eq!(
            taken,
            Err("the message has more than 2 tool calls".to_owned())
        );
    }
}
