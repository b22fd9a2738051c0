//! Assembly of streamed tool calls.

use std::borrow::Cow;

use treenail_schema::ToolUseContent;

use super::arguments::Arguments;
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
    arguments: Arguments,
}

/// Chunk of a call. Texts that it does not have are empty.
#[derive(Default)]
struct Piece<'a> {
    index: Option<u64>,
    id: Cow<'a, str>,
    name: Cow<'a, str>,
    arguments: Cow<'a, str>,
}

impl<'a> Piece<'a> {
    fn of(delta: CallDelta<'a>) -> Self {
        let mut piece = Self {
            index: delta.index,
            id: delta.id.unwrap_or_default(),
            ..Self::default()
        };
        if let Some(function) = delta.function {
            piece.name = function.name.unwrap_or_default();
            piece.arguments = function.arguments.map(arguments_of).unwrap_or_default();
        }
        piece
    }

    /// Returns true if the chunk belongs to this call, which is the last one with its index.
    ///
    /// Some endpoints send the same index for all calls, or none: then a different id starts a new call. Without an id, a name
    /// starts one if there is no index, and other arguments or another name after complete arguments always do.
    fn continues(&self, call: &Call) -> bool {
        if !self.id.is_empty() {
            return call.id.is_empty() || call.id == self.id;
        }
        let is_named = !self.name.is_empty() && !call.name.is_empty();
        let is_other =
            self.arguments.trim_start().starts_with('{') || is_named && self.name != call.name;
        let starts_new = is_other && call.arguments.is_complete();
        !(starts_new || is_named && self.index.is_none())
    }
}

impl CallAssembler {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a chunk and returns the number of bytes stored.
    pub(super) fn push(&mut self, delta: CallDelta<'_>, max: usize) -> Result<usize, String> {
        let mut piece = Piece::of(delta);
        let last = match piece.index {
            Some(_) => self.0.iter().rposition(|call| call.index == piece.index),
            None => self.0.len().checked_sub(1),
        };
        let at = match last {
            Some(last) if piece.continues(&self.0[last]) => last,
            _ if self.0.len() >= max => {
                return Err(format!("the message has more than {max} tool calls"));
            }
            last => {
                // A call without id and name is of the same function as the call before it.
                if let Some(last) = last.filter(|_| piece.id.is_empty() && piece.name.is_empty()) {
                    piece.name = Cow::Owned(self.0[last].name.clone());
                }
                self.0.push(Call {
                    index: piece.index,
                    id: String::new(),
                    name: String::new(),
                    arguments: Arguments::default(),
                });
                self.0.len() - 1
            }
        };
        Ok(self.0[at].push(&piece))
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
            tool_use_from_raw(id, names.original(&call.name), call.arguments.as_str())
        });
        calls.collect()
    }
}

impl Call {
    /// Adds a chunk and returns the number of bytes stored.
    fn push(&mut self, piece: &Piece<'_>) -> usize {
        let mut size = piece.arguments.len();
        self.arguments.push(&piece.arguments);
        if self.id.is_empty() {
            size += piece.id.len();
            self.id.push_str(&piece.id);
        }
        // Some endpoints repeat the name in each chunk.
        if self.name.is_empty() {
            size += piece.name.len();
            self.name.push_str(&piece.name);
        }
        size
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
    fn calls_of_one_index_without_ids_are_separated() {
        check(
            &[
                r#"{"index":0,"function":{"name":"f","arguments":"{\"x\":1}"}}"#,
                r#"{"index":0,"function":{"name":"g","arguments":"{\"y\":2}"}}"#,
            ],
            &[
                ("call_4_0", "f", r#"{"x":1}"#),
                ("call_4_1", "g", r#"{"y":2}"#),
            ],
        );
        check(
            &[
                r#"{"index":0,"function":{"name":"f","arguments":""}}"#,
                r#"{"index":0,"function":{"arguments":"{\"x\":"}}"#,
                r#"{"index":0,"function":{"name":"f","arguments":"{}}"}}"#,
                r#"{"index":0,"function":{"name":"g","arguments":""}}"#,
                r#"{"index":0,"function":{"arguments":"{}"}}"#,
                r#"{"index":0,"function":{"arguments":"{\"z\":3}"}}"#,
            ],
            &[
                ("call_4_0", "f", r#"{"x":{}}"#),
                ("call_4_1", "g", "{}"),
                ("call_4_2", "g", r#"{"z":3}"#),
            ],
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
