//! Start of a call: from `TOOL:` to the opening brace of the arguments.

use crate::text::cursor::{Cursor, Incomplete};
use crate::text::fence::{Fence, MAX_INDENT};
use crate::text::known_tools::KnownTools;

/// Maximum size of the start of a call, including white space. This bounds the text held back for detection.
pub(super) const MAX_OPENING_BYTES: usize = 512;

/// Maximum number of consecutive marks of emphasis, quotation or code.
const MAX_MARKS: usize = 4;

/// Maximum number of consecutive blanks, and of white space between two lines.
const MAX_BLANKS: usize = 64;

/// Maximum length of a name, as the protocol recommends.
const MAX_NAME_BYTES: usize = 128;

/// Construct that starts at a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Opening {
    /// Not a call.
    Prose,
    /// A code block that is not a call.
    Code(Fence),
    /// A call.
    Call(CallStart),
}

/// Start of a call.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CallStart {
    pub(super) name: String,
    /// Fence that opens before the call.
    pub(super) opened_fence: Option<Fence>,
    pub(super) next: Following,
    /// Length in bytes.
    pub(super) length: usize,
}

/// Text that follows the start of a call.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Following {
    /// The object with the arguments, possibly in its own fence.
    Object(Option<Fence>),
    /// No arguments.
    NoArguments {
        /// True if the text ends there.
        at_end: bool,
    },
    /// Other text, although the tool accepts arguments.
    Text,
    /// Another character in place of the announced object.
    UnexpectedChar(Option<char>),
}

/// Parses the construct at the start of a line. `fence` is an open fence that contains calls.
pub(super) fn parse_opening(
    mut cursor: Cursor<'_>,
    fence: Option<Fence>,
    known: &KnownTools,
) -> Result<Opening, Incomplete> {
    let opened_fence = match fence {
        Some(_) => None,
        None => Fence::open(&mut cursor)?,
    };
    if opened_fence.is_some() {
        cursor.whitespace(MAX_BLANKS)?;
    }
    let prose = opened_fence.map_or(Opening::Prose, Opening::Code);
    let Some(name) = tool_name(&mut cursor)? else {
        return Ok(prose);
    };
    let rest = Rest {
        name,
        fence: fence.or(opened_fence),
        known,
    };
    let Some((next, length)) = rest.read(cursor)? else {
        return Ok(prose);
    };
    Ok(Opening::Call(CallStart {
        name: name.to_owned(),
        opened_fence,
        next,
        length,
    }))
}

/// Consumes `TOOL: name`, if it is next.
fn tool_name<'a>(cursor: &mut Cursor<'a>) -> Result<Option<&'a str>, Incomplete> {
    cursor.blanks(MAX_INDENT)?;
    if !keyword(cursor, "TOOL")? {
        return Ok(None);
    }
    cursor.blanks(MAX_BLANKS)?;
    cursor.take(MAX_MARKS, is_mark)?;
    let name = cursor.take(MAX_NAME_BYTES, |byte| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
    })?;
    if name.trim_matches('.').is_empty() {
        return Ok(None);
    }
    cursor.take(MAX_MARKS, is_mark)?;
    Ok(Some(name.trim_end_matches('.')))
}

/// Parser for the text after `TOOL: name`.
struct Rest<'a> {
    name: &'a str,
    /// Fence around the call.
    fence: Option<Fence>,
    known: &'a KnownTools,
}

impl Rest<'_> {
    /// Returns the following construct and its position; `None` if `TOOL:` is prose.
    fn read(&self, mut cursor: Cursor<'_>) -> Result<Option<(Following, usize)>, Incomplete> {
        if cursor.literal("()")? {
            cursor.take(MAX_MARKS, is_mark)?;
        }
        cursor.blanks(MAX_BLANKS)?;
        cursor.take(1, |byte| matches!(byte, b',' | b';' | b'|'))?;
        cursor.blanks(MAX_BLANKS)?;
        // End of the call if only this line belongs to it.
        let mut line = cursor;
        let is_alone = line.line_end()?;
        if is_alone {
            cursor.whitespace(2 * MAX_BLANKS)?;
        }
        let mut ahead = cursor;
        if parameters(&mut ahead)? {
            let next = arguments_start(&mut ahead)?;
            let is_call = matches!(next, Following::Object(_)) || self.known.has_similar(self.name);
            return Ok(is_call.then_some((next, ahead.at())));
        }
        if self.known.has(self.name) && !self.closes(cursor)? {
            let next = arguments_start(&mut ahead)?;
            if matches!(next, Following::Object(_)) {
                return Ok(Some((next, ahead.at())));
            }
        }
        if !is_alone || !self.known.has_similar(self.name) {
            return Ok(None);
        }
        let at_end = cursor.peek()?.is_none();
        let is_unclear = self.known.has_only_optional_arguments(self.name)
            && !at_end
            && !self.closes(cursor)?
            && !keyword(&mut cursor.after_blanks(MAX_INDENT)?, "TOOL")?;
        let next = if is_unclear {
            Following::Text
        } else {
            Following::NoArguments { at_end }
        };
        Ok(Some((next, line.at())))
    }

    fn closes(&self, mut cursor: Cursor<'_>) -> Result<bool, Incomplete> {
        self.fence
            .map_or(Ok(false), |fence| fence.close(&mut cursor))
    }
}

/// Consumes `PARAMETERS:`, if it is next.
fn parameters(cursor: &mut Cursor<'_>) -> Result<bool, Incomplete> {
    Ok(keyword(cursor, "PARAMETERS")? || keyword(cursor, "PARAMETER")?)
}

/// Consumes the text between `PARAMETERS:` and the object.
fn arguments_start(cursor: &mut Cursor<'_>) -> Result<Following, Incomplete> {
    cursor.whitespace(2 * MAX_BLANKS)?;
    let fence = Fence::open_inline(cursor)?;
    if fence.is_none() {
        cursor.take(MAX_MARKS, is_mark)?;
    }
    cursor.whitespace(MAX_BLANKS)?;
    Ok(match cursor.peek_char()? {
        Some('{') => Following::Object(fence),
        other => Following::UnexpectedChar(other),
    })
}

/// Consumes a keyword of the format with its colon and surrounding marks, if it is next.
fn keyword(cursor: &mut Cursor<'_>, literal: &str) -> Result<bool, Incomplete> {
    let mut ahead = *cursor;
    if !ahead.take(6, |byte| byte == b'#')?.is_empty() {
        ahead.blanks(MAX_BLANKS)?;
    }
    ahead.take(MAX_MARKS, is_emphasis)?;
    if !ahead.literal(literal)? {
        return Ok(false);
    }
    ahead.take(MAX_MARKS, is_emphasis)?;
    ahead.blanks(MAX_BLANKS)?;
    if !ahead.literal(":")? {
        return Ok(false);
    }
    // A name may start with `_`, so only separate marks are emphasis.
    if !ahead.literal("__ ")? {
        ahead.take(MAX_MARKS, |byte| matches!(byte, b'*' | b'`'))?;
    }
    *cursor = ahead;
    Ok(true)
}

fn is_emphasis(byte: u8) -> bool {
    matches!(byte, b'*' | b'_' | b'`')
}

fn is_mark(byte: u8) -> bool {
    matches!(byte, b'*' | b'`' | b'"' | b'\'')
}
