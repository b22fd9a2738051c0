//! Incremental parser for tool calls in the text of a model.
//!
//! Grammar:
//! - At the start of a line or after another call, a call is `TOOL:` with a name, followed on the same or a later line
//!   by `PARAMETERS:` with a JSON object. Surrounding emphasis, headings and code marks are ignored, and so is case.
//! - `PARAMETERS:` may be omitted before an object if a tool has this name. Both may be omitted if a tool has this name
//!   or a similar one and nothing else is on the line.
//! - A code fence contains calls if it starts with one; otherwise it is code.
//! - The name may be unknown; the owner of the catalog reports that to the model.
//! - After a malformed call, no further calls are recognized: its end is uncertain, and the following text may be part
//!   of its arguments. The model is informed.
//!
//! All other text is emitted as soon as it cannot become a call, after at most 512 bytes.

use treenail_schema::{JsonObject, Tool};

use crate::text::TextToolFormat;
use crate::text::body::{ArgumentBody, trailing_len};
use crate::text::cursor::Incomplete;
use crate::text::fence::Fence;
use crate::text::known_tools::KnownTools;
use crate::text::malformed::Malformed;
use crate::text::mention::MentionDetector;
use crate::text::object::parse_object;
use crate::text::opening::{CallStart, Following, Opening, parse_opening};
use crate::text::pending::PendingText;
use crate::text::piece::Piece;

/// Parser for the calls in one message of a model.
#[derive(Debug)]
pub(crate) struct TextParser {
    format: TextToolFormat,
    known: KnownTools,
    pub(super) pending: PendingText,
    state: ParserState,
    fence_context: FenceContext,
    /// True after a malformed call.
    has_malformed: bool,
    /// Detects announcements, until the first call.
    mentions: Option<MentionDetector>,
    pieces: Vec<Piece>,
}

#[derive(Debug)]
enum ParserState {
    /// At the start of a line or after a call.
    Line,
    /// Within a line of text.
    Text,
    /// Within the arguments of a call.
    Object(Box<ArgumentBody>),
    /// After a call, whose arguments may have had their own fence.
    AfterCall(Option<Fence>),
    /// Within a line that belongs to a malformed call.
    SkipLine,
}

/// Fence around the current position.
#[derive(Clone, Copy, Debug)]
enum FenceContext {
    Nothing,
    /// A fence that contains code.
    Code(Fence),
    /// A fence that contains calls.
    Calls(Fence),
}

/// State of a message at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MessageEnd {
    Whole,
    CutOff,
}

impl TextParser {
    /// Creates a parser for one message of a model that knows these tools.
    pub(crate) fn new(format: &TextToolFormat, tools: &[Tool]) -> Self {
        Self {
            format: format.clone(),
            known: KnownTools::new(tools),
            pending: PendingText::default(),
            state: ParserState::Line,
            fence_context: FenceContext::Nothing,
            has_malformed: false,
            mentions: format.mentions.then(MentionDetector::new),
            pieces: Vec::new(),
        }
    }

    /// Processes a chunk and returns the pieces that are certain.
    pub(crate) fn push(&mut self, chunk: &str) -> Vec<Piece> {
        self.pending.push(chunk);
        while !self.pending.text().is_empty() && self.advance(None).is_ok() {}
        std::mem::take(&mut self.pieces)
    }

    /// Returns the remaining pieces of a complete message.
    pub(crate) fn finish(&mut self) -> Vec<Piece> {
        self.end(MessageEnd::Whole)
    }

    /// Returns the remaining pieces of a truncated message, as by a token limit or a filter; a call at its very end is incomplete.
    pub(crate) fn finish_cut_off(&mut self) -> Vec<Piece> {
        self.end(MessageEnd::CutOff)
    }

    fn end(&mut self, end: MessageEnd) -> Vec<Piece> {
        let is_open = |parser: &Self| matches!(parser.state, ParserState::Object(_));
        while (!self.pending.text().is_empty() || is_open(self)) && self.advance(Some(end)).is_ok()
        {
        }
        let mentions = self.mentions.take().filter(|_| end == MessageEnd::Whole);
        if let Some(name) = mentions.and_then(|mentions| mentions.into_call(&self.known)) {
            let input = JsonObject::new();
            self.pieces.push(Piece::Call { name, input });
        }
        std::mem::take(&mut self.pieces)
    }

    /// Advances by one step, which consumes pending text or changes the state.
    fn advance(&mut self, end: Option<MessageEnd>) -> Result<(), Incomplete> {
        match &self.state {
            ParserState::Line => self.at_line_start(end),
            ParserState::Text => {
                let (length, has_ended) = self.pending.line();
                if has_ended {
                    self.state = ParserState::Line;
                }
                self.emit_text(length, matches!(self.fence_context, FenceContext::Code(_)));
                Ok(())
            }
            ParserState::Object(_) => self.in_arguments(end),
            ParserState::AfterCall(fence) => {
                let length = trailing_len(self.pending.cursor(end.is_some()), *fence)?;
                self.state = ParserState::Line;
                self.pending.discard(length);
                Ok(())
            }
            ParserState::SkipLine => {
                let (length, has_ended) = self.pending.line();
                if has_ended {
                    self.state = ParserState::Line;
                }
                self.pending.discard(length);
                Ok(())
            }
        }
    }

    /// Handles the start of a line.
    fn at_line_start(&mut self, end: Option<MessageEnd>) -> Result<(), Incomplete> {
        let mut cursor = self.pending.cursor(end.is_some());
        let fence = match self.fence_context {
            FenceContext::Nothing => None,
            FenceContext::Code(fence) | FenceContext::Calls(fence) => Some(fence),
        };
        if let Some(fence) = fence {
            if fence.close(&mut cursor)? {
                let length = cursor.at();
                match std::mem::replace(&mut self.fence_context, FenceContext::Nothing) {
                    FenceContext::Calls(_) => self.pending.discard(length),
                    _ => self.emit_text(length, true),
                }
                return Ok(());
            }
        }
        if self.has_malformed || matches!(self.fence_context, FenceContext::Code(_)) {
            self.state = ParserState::Text;
            return Ok(());
        }
        match parse_opening(cursor, fence, &self.known)? {
            Opening::Prose => self.state = ParserState::Text,
            Opening::Code(fence) => {
                self.fence_context = FenceContext::Code(fence);
                self.state = ParserState::Text;
            }
            Opening::Call(start) => self.start_call(start, end),
        }
        Ok(())
    }

    /// Handles the start of a call.
    fn start_call(&mut self, start: CallStart, end: Option<MessageEnd>) {
        self.mentions = None;
        if let Some(fence) = start.opened_fence {
            self.fence_context = FenceContext::Calls(fence);
        }
        match start.next {
            Following::Object(fence) => {
                let body = ArgumentBody::new(start.name, fence, start.length);
                self.state = ParserState::Object(Box::new(body));
            }
            Following::NoArguments { at_end: true } if end == Some(MessageEnd::CutOff) => {
                self.malformed(&Malformed::CutOff, &start.name, start.length);
            }
            Following::NoArguments { .. } => {
                self.pending.discard(start.length);
                let (name, input) = (start.name, JsonObject::new());
                self.pieces.push(Piece::Call { name, input });
            }
            Following::Text => {
                self.malformed(&Malformed::MissingParameters, &start.name, start.length);
            }
            Following::UnexpectedChar(found) => {
                self.malformed(&Malformed::MissingObject(found), &start.name, start.length);
                self.state = ParserState::SkipLine;
            }
        }
    }

    /// Handles the arguments of a call.
    fn in_arguments(&mut self, end: Option<MessageEnd>) -> Result<(), Incomplete> {
        let ParserState::Object(body) = &mut self.state else {
            return Ok(());
        };
        let length = body.end(self.pending.text(), self.format.arguments_bytes);
        if length.is_none() && end.is_none() {
            if body.excerpt.is_some() {
                body.reset();
                let length = self.pending.text().len();
                self.pending.discard(length);
            }
            return Err(Incomplete);
        }
        let ParserState::Object(body) = std::mem::replace(&mut self.state, ParserState::Line)
        else {
            return Ok(());
        };
        self.state = ParserState::AfterCall(body.fence);
        match self.parse_arguments(&body, length, end) {
            Ok(input) => {
                let length = length.unwrap_or(self.pending.text().len());
                self.pending.discard(length);
                let name = body.name;
                self.pieces.push(Piece::Call { name, input });
            }
            Err(problem) => {
                let length = length.unwrap_or(self.pending.text().len());
                self.malformed(&problem, &body.name, length);
                if let (Some(Piece::Malformed { source, .. }), Some(excerpt)) =
                    (self.pieces.last_mut(), body.excerpt)
                {
                    *source = excerpt;
                }
            }
        }
        Ok(())
    }

    /// Parses arguments that are complete or truncated.
    fn parse_arguments(
        &self,
        body: &ArgumentBody,
        length: Option<usize>,
        end: Option<MessageEnd>,
    ) -> Result<JsonObject, Malformed> {
        if body.excerpt.is_some() {
            return Err(Malformed::TooLong(self.format.arguments_bytes));
        }
        if length.is_none() && end == Some(MessageEnd::CutOff) {
            return Err(Malformed::CutOff);
        }
        if body.scanner.deepest() > self.format.arguments_depth {
            return Err(Malformed::TooDeep(self.format.arguments_depth));
        }
        let length = length.unwrap_or(self.pending.text().len());
        parse_object(&self.pending.text()[body.start..length]).map_err(Malformed::InvalidJson)
    }

    fn malformed(&mut self, problem: &Malformed, name: &str, length: usize) {
        let source = self.pending.text()[..length].to_owned();
        self.pending.discard(length);
        self.pieces.push(problem.piece(name, source));
        self.has_malformed = true;
    }

    /// Emits pending text up to a length.
    fn emit_text(&mut self, length: usize, is_code: bool) {
        let text = self.pending.take(length);
        if let Some(mentions) = &mut self.mentions {
            mentions.push(if is_code { "\n\n" } else { text });
        }
        match self.pieces.last_mut() {
            Some(Piece::Text(before)) => before.push_str(text),
            _ if text.is_empty() => {}
            _ => self.pieces.push(Piece::Text(text.to_owned())),
        }
    }
}
