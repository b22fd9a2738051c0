//! How a call begins: from `TOOL:` to the brace that opens the arguments.

use crate::agent::text::cursor::{Cursor, Incomplete};
use crate::agent::text::fence::{Fence, MAX_INDENT};
use crate::agent::text::known_tools::KnownTools;

/// How many bytes the beginning of a call may take, white space and all. No more than that is held back to find out.
pub(super) const MAX_OPENING_BYTES: usize = 512;

/// How many marks of emphasis, quotation or code there may be in one place.
const MAX_MARKS: usize = 4;

/// How many blanks there may be in one place, and white space between two lines.
const MAX_BLANKS: usize = 64;

/// The longest name, as the protocol recommends it.
const MAX_NAME_BYTES: usize = 128;

/// What a line begins.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Opening {
    /// No call.
    Prose,
    /// Code that is no call.
    Code(Fence),
    /// A call.
    Call(CallStart),
}

/// The beginning of a call.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CallStart {
    pub(super) name: String,
    /// The fence that it stands in.
    pub(super) opened_fence: Option<Fence>,
    pub(super) next: Following,
    /// How many bytes it takes.
    pub(super) length: usize,
}

/// What comes after the beginning of a call.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Following {
    /// The object with its arguments, which may have a fence of its own.
    Object(Option<Fence>),
    /// Something else: the call has no arguments.
    NoArguments {
        /// It is at the end of the text that it has none.
        at_end: bool,
    },
    /// Text, though the call could have arguments.
    Text,
    /// Something else than the object that has been announced.
    UnexpectedChar(Option<char>),
}

/// What begins here, at the beginning of a line, which may stand in a fence that has other calls in it.
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

/// Takes `TOOL: name`, if it is next.
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

/// Reads what follows `TOOL: name`.
struct Rest<'a> {
    name: &'a str,
    /// What the call stands in.
    fence: Option<Fence>,
    known: &'a KnownTools,
}

impl Rest<'_> {
    /// What follows, and where that begins; nothing, if the two words are prose.
    fn read(&self, mut cursor: Cursor<'_>) -> Result<Option<(Following, usize)>, Incomplete> {
        if cursor.literal("()")? {
            cursor.take(MAX_MARKS, is_mark)?;
        }
        cursor.blanks(MAX_BLANKS)?;
        cursor.take(1, |byte| matches!(byte, b',' | b';' | b'|'))?;
        cursor.blanks(MAX_BLANKS)?;
        // Where the call ends if nothing belongs to it but this line.
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

/// Takes `PARAMETERS:`, if it is next.
fn parameters(cursor: &mut Cursor<'_>) -> Result<bool, Incomplete> {
    Ok(keyword(cursor, "PARAMETERS")? || keyword(cursor, "PARAMETER")?)
}

/// Takes what may stand before the object of the arguments.
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

/// Takes a word of the dialect, its colon, and the marks around them, if they are next.
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
    // A name may begin with `_`, so only what stands alone is emphasis.
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
