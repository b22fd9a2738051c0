//! How a call begins: from `TOOL:` to the brace that opens the arguments.

use crate::tool_loop::text::cursor::{Cursor, More};
use crate::tool_loop::text::fence::{Fence, INDENT};
use crate::tool_loop::text::known::Known;

/// How many bytes the beginning of a call may take, white space and all. No more than that is held back to find out.
pub(super) const LONGEST: usize = 512;

/// How many marks of emphasis, quotation or code there may be in one place.
const MARKS: usize = 4;

/// How many blanks there may be in one place, and white space between two lines.
const BLANKS: usize = 64;

/// The longest name, as the protocol recommends it.
const NAME: usize = 128;

/// What a line begins.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Opening {
    /// No call.
    Prose,
    /// Code that is no call.
    Code(Fence),
    /// A call.
    Call(Start),
}

/// The beginning of a call.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Start {
    pub(super) name: String,
    /// The fence that it stands in.
    pub(super) around: Option<Fence>,
    pub(super) next: Next,
    /// How many bytes it takes.
    pub(super) length: usize,
}

/// What comes after the beginning of a call.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// The object with its arguments, which may have a fence of its own.
    Object(Option<Fence>),
    /// Something else: the call has no arguments.
    Nothing {
        /// It is at the end of the text that it has none.
        at_end: bool,
    },
    /// Text, though the call could have arguments.
    Text,
    /// Something else than the object that has been announced.
    Wrong(Option<char>),
}

/// What begins here, at the beginning of a line, which may stand in a fence that has other calls in it.
pub(super) fn opening(
    mut cursor: Cursor<'_>,
    fence: Option<Fence>,
    known: &Known,
) -> Result<Opening, More> {
    let around = match fence {
        Some(_) => None,
        None => Fence::open(&mut cursor)?,
    };
    if around.is_some() {
        cursor.white(BLANKS)?;
    }
    let prose = around.map_or(Opening::Prose, Opening::Code);
    let Some(name) = tool(&mut cursor)? else {
        return Ok(prose);
    };
    let rest = Rest {
        name,
        fence: fence.or(around),
        known,
    };
    let Some((next, length)) = rest.read(cursor)? else {
        return Ok(prose);
    };
    Ok(Opening::Call(Start {
        name: name.to_owned(),
        around,
        next,
        length,
    }))
}

/// Takes `TOOL: name`, if it is next.
fn tool<'a>(cursor: &mut Cursor<'a>) -> Result<Option<&'a str>, More> {
    cursor.blanks(INDENT)?;
    if !keyword(cursor, "TOOL")? {
        return Ok(None);
    }
    cursor.blanks(BLANKS)?;
    cursor.take(MARKS, is_mark)?;
    let name = cursor.take(NAME, |byte| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
    })?;
    if name.trim_matches('.').is_empty() {
        return Ok(None);
    }
    cursor.take(MARKS, is_mark)?;
    Ok(Some(name.trim_end_matches('.')))
}

/// Reads what follows `TOOL: name`.
struct Rest<'a> {
    name: &'a str,
    /// What the call stands in.
    fence: Option<Fence>,
    known: &'a Known,
}

impl Rest<'_> {
    /// What follows, and where that begins; nothing, if the two words are prose.
    fn read(&self, mut cursor: Cursor<'_>) -> Result<Option<(Next, usize)>, More> {
        if cursor.word("()")? {
            cursor.take(MARKS, is_mark)?;
        }
        cursor.blanks(BLANKS)?;
        cursor.take(1, |byte| matches!(byte, b',' | b';' | b'|'))?;
        cursor.blanks(BLANKS)?;
        // Where the call ends if nothing belongs to it but this line.
        let mut line = cursor;
        let is_alone = line.line_end()?;
        if is_alone {
            cursor.white(2 * BLANKS)?;
        }
        let mut ahead = cursor;
        if parameters(&mut ahead)? {
            let next = value(&mut ahead)?;
            let is_call = matches!(next, Next::Object(_)) || self.known.has_nearly(self.name);
            return Ok(is_call.then_some((next, ahead.at())));
        }
        if self.known.has(self.name) && !self.closes(cursor)? {
            let next = value(&mut ahead)?;
            if matches!(next, Next::Object(_)) {
                return Ok(Some((next, ahead.at())));
            }
        }
        if !is_alone || !self.known.has_nearly(self.name) {
            return Ok(None);
        }
        let at_end = cursor.peek()?.is_none();
        let is_unclear = self.known.goes_both_ways(self.name)
            && !at_end
            && !self.closes(cursor)?
            && !keyword(&mut cursor.indented(INDENT)?, "TOOL")?;
        let next = if is_unclear {
            Next::Text
        } else {
            Next::Nothing { at_end }
        };
        Ok(Some((next, line.at())))
    }

    fn closes(&self, mut cursor: Cursor<'_>) -> Result<bool, More> {
        self.fence
            .map_or(Ok(false), |fence| fence.close(&mut cursor))
    }
}

/// Takes `PARAMETERS:`, if it is next.
fn parameters(cursor: &mut Cursor<'_>) -> Result<bool, More> {
    Ok(keyword(cursor, "PARAMETERS")? || keyword(cursor, "PARAMETER")?)
}

/// Takes what may stand before the object of the arguments.
fn value(cursor: &mut Cursor<'_>) -> Result<Next, More> {
    cursor.white(2 * BLANKS)?;
    let fence = Fence::open_inline(cursor)?;
    if fence.is_none() {
        cursor.take(MARKS, is_mark)?;
    }
    cursor.white(BLANKS)?;
    Ok(match cursor.peek_char()? {
        Some('{') => Next::Object(fence),
        other => Next::Wrong(other),
    })
}

/// Takes a word of the dialect, its colon, and the marks around them, if they are next.
fn keyword(cursor: &mut Cursor<'_>, word: &str) -> Result<bool, More> {
    let mut ahead = *cursor;
    if !ahead.take(6, |byte| byte == b'#')?.is_empty() {
        ahead.blanks(BLANKS)?;
    }
    ahead.take(MARKS, is_emphasis)?;
    if !ahead.word(word)? {
        return Ok(false);
    }
    ahead.take(MARKS, is_emphasis)?;
    ahead.blanks(BLANKS)?;
    if !ahead.word(":")? {
        return Ok(false);
    }
    // A name may begin with `_`, so only what stands alone is emphasis.
    if !ahead.word("__ ")? {
        ahead.take(MARKS, |byte| matches!(byte, b'*' | b'`'))?;
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
