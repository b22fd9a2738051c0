//! What is sent to a server in each era, and whether its answers are right.

use std::borrow::Cow;

use serde::Deserialize;

use crate::Result;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    /// Revision 2025-11-25, after an `initialize` handshake.
    Legacy,
    /// Revision 2026-07-28: each request says who asks, in the same words.
    Modern,
    /// The same with a progress token, so that no two requests have the same `_meta`.
    ModernWithProgress,
}

const INITIALIZE: &str = r#"{"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1.0.0"}},"jsonrpc":"2.0","id":0}"#;
const INITIALIZED: &str = r#"{"method":"notifications/initialized","jsonrpc":"2.0"}"#;
const META: &str = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1.0.0"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{},"sampling":{}}"#;

impl Era {
    pub(crate) const ALL: [Self; 3] = [Self::Legacy, Self::Modern, Self::ModernWithProgress];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Legacy => "legacy",
            Self::Modern => "modern",
            Self::ModernWithProgress => "modern-progress",
        }
    }

    /// The request and the notification that come before all others.
    pub(crate) fn handshake(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Legacy => Some((INITIALIZE, INITIALIZED)),
            Self::Modern | Self::ModernWithProgress => None,
        }
    }

    /// One request, with its members in the order in which the TypeScript SDK writes them.
    pub(crate) fn request(self, id: usize, method: &str, params: &str) -> String {
        let separator = if params.is_empty() { "" } else { "," };
        let params = match self {
            Self::Legacy => params.to_owned(),
            Self::Modern => format!(r#"{params}{separator}"_meta":{{{META}}}"#),
            Self::ModernWithProgress => {
                format!(r#"{params}{separator}"_meta":{{"progressToken":{id},{META}}}"#)
            }
        };
        format!(r#"{{"method":"{method}","params":{{{params}}},"jsonrpc":"2.0","id":{id}}}"#)
    }

    fn call(self, id: usize) -> String {
        let (a, b) = (id, 2 * id);
        let params = format!(r#""name":"add","arguments":{{"a":{a},"b":{b}}}"#);
        self.request(id, "tools/call", &params)
    }
}

/// Calls of `add` with the ids from 0, one a line.
pub(crate) struct Calls {
    lines: Vec<u8>,
    /// Where each call begins, and where the last one ends.
    bounds: Vec<usize>,
}

impl Calls {
    pub(crate) fn new(era: Era, count: usize) -> Self {
        Self::of(count, |id| era.call(id))
    }

    /// Requests of another kind.
    pub(crate) fn of(count: usize, request: impl Fn(usize) -> String) -> Self {
        let (mut lines, mut bounds) = (Vec::new(), vec![0]);
        for id in 0..count {
            lines.extend_from_slice(request(id).as_bytes());
            lines.push(b'\n');
            bounds.push(lines.len());
        }
        Self { lines, bounds }
    }

    pub(crate) fn len(&self) -> usize {
        self.bounds.len() - 1
    }

    pub(crate) fn lines(&self, from: usize, to: usize) -> &[u8] {
        &self.lines[self.bounds[from]..self.bounds[to]]
    }

    /// Makes sure that each call has exactly one answer, with its sum.
    pub(crate) fn check(&self, answers: &[u8]) -> Result<()> {
        let mut answered = vec![false; self.len()];
        for line in answers.split_inclusive(|byte| *byte == b'\n') {
            let id = sum_answered(line)
                .ok_or_else(|| format!("wrong answer: {}", String::from_utf8_lossy(line)))?;
            match answered.get_mut(id) {
                Some(answered) if !*answered => *answered = true,
                _ => return Err(format!("the id {id} is not that of a call in flight").into()),
            }
        }
        match answered.iter().position(|answered| !answered) {
            None => Ok(()),
            Some(id) => Err(format!("call {id} has no answer").into()),
        }
    }
}

#[derive(Deserialize)]
struct Answer<'a> {
    id: usize,
    #[serde(borrow)]
    result: Sum<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Sum<'a> {
    #[serde(borrow)]
    content: [Text<'a>; 1],
    structured_content: Option<Structured>,
}

/// A number, which revisions that take objects only have in one, or the struct of a tool that returns one.
#[derive(Clone, Copy, Deserialize)]
#[serde(untagged)]
enum Structured {
    Bare(usize),
    Wrapped { result: usize },
    Struct { sum: usize },
}

impl Structured {
    fn number(self) -> usize {
        match self {
            Self::Bare(number)
            | Self::Wrapped { result: number }
            | Self::Struct { sum: number } => number,
        }
    }
}

#[derive(Deserialize)]
struct Text<'a> {
    #[serde(borrow)]
    text: Cow<'a, str>,
}

/// The id of an answer, if the answer is the sum that was asked for.
fn sum_answered(line: &[u8]) -> Option<usize> {
    let Answer { id, result } = serde_json::from_slice(line).ok()?;
    let [Text { text }] = result.content;
    let sum = 3 * id;
    let text: Structured = serde_json::from_str(&text).ok()?;
    let structured = result.structured_content;
    let right = text.number() == sum && structured.is_none_or(|it| it.number() == sum);
    right.then_some(id)
}
