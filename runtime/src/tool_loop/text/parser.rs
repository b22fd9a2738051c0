//! Finds the calls in the text of a model, as it comes.
//!
//! What is a call:
//! - At the beginning of a line, or behind another call, stands `TOOL:` and a name, and after that, on the same line or a
//!   later one, `PARAMETERS:` and a JSON object. Emphasis, headings and code marks around them do not matter, nor does case.
//! - The word `PARAMETERS:` may be left out before an object where there is a tool of that name, and so may both, where
//!   there is one of that name or nearly that name, and nothing else stands on the line.
//! - In a fence of code there are calls if the first thing in it is one; a fence that begins with something else is code.
//! - The name need not be that of a tool: that is told to the model by those who know the tools.
//! - After a call that cannot be read there are no calls any more: where it ends is not certain, and what follows might be
//!   a part of its arguments. The model is told so.
//!
//! All else is text, and is given as soon as it cannot become a call any more, which takes at most 512 bytes to know.

use treenail_schema::{JsonObject, Tool};

use crate::tool_loop::text::TextDialect;
use crate::tool_loop::text::body::{Body, behind};
use crate::tool_loop::text::cursor::More;
use crate::tool_loop::text::fence::Fence;
use crate::tool_loop::text::known::Known;
use crate::tool_loop::text::malformed::Malformed;
use crate::tool_loop::text::mention::Mentions;
use crate::tool_loop::text::object::read;
use crate::tool_loop::text::opening::{Next, Opening, Start, opening};
use crate::tool_loop::text::pending::Pending;
use crate::tool_loop::text::piece::Piece;

/// Finds the calls in one message of a model.
#[derive(Debug)]
pub(crate) struct TextParser {
    dialect: TextDialect,
    known: Known,
    pub(super) pending: Pending,
    state: State,
    around: Around,
    /// There was a malformed call.
    is_broken: bool,
    /// Looks for announcements, as long as there is no call.
    mentions: Option<Mentions>,
    pieces: Vec<Piece>,
}

#[derive(Debug)]
enum State {
    /// At the beginning of a line, or behind a call.
    Line,
    /// In a line of text.
    Text,
    /// In the arguments of a call.
    Object(Box<Body>),
    /// Behind a call, whose arguments may have had a fence of their own.
    Behind(Option<Fence>),
    /// In a line that is a part of a malformed call.
    Wrong,
}

/// What text stands in.
#[derive(Clone, Copy, Debug)]
enum Around {
    Nothing,
    /// A fence with code in it.
    Code(Fence),
    /// A fence with calls in it.
    Calls(Fence),
}

/// How a message ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Whole,
    CutOff,
}

impl TextParser {
    /// One for the next message of a model that has been told of these tools.
    pub(crate) fn new(dialect: &TextDialect, tools: &[Tool]) -> Self {
        Self {
            dialect: dialect.clone(),
            known: Known::new(tools),
            pending: Pending::default(),
            state: State::Line,
            around: Around::Nothing,
            is_broken: false,
            mentions: dialect.mentions.then(Mentions::new),
            pieces: Vec::new(),
        }
    }

    /// Takes what has come, and gives what can be told of it already.
    pub(crate) fn push(&mut self, chunk: &str) -> Vec<Piece> {
        self.pending.push(chunk);
        while !self.pending.text().is_empty() && self.step(None).is_ok() {}
        std::mem::take(&mut self.pieces)
    }

    /// The rest, when the message is complete.
    pub(crate) fn finish(&mut self) -> Vec<Piece> {
        self.end(End::Whole)
    }

    /// The rest, when the message was cut off, as by the largest number of tokens: a call at its very end is not complete.
    pub(crate) fn finish_cut_off(&mut self) -> Vec<Piece> {
        self.end(End::CutOff)
    }

    fn end(&mut self, end: End) -> Vec<Piece> {
        let is_open = |parser: &Self| matches!(parser.state, State::Object(_));
        while (!self.pending.text().is_empty() || is_open(self)) && self.step(Some(end)).is_ok() {}
        let mentions = self.mentions.take().filter(|_| end == End::Whole);
        if let Some(name) = mentions.and_then(|mentions| mentions.call(&self.known)) {
            let input = JsonObject::new();
            self.pieces.push(Piece::Call { name, input });
        }
        std::mem::take(&mut self.pieces)
    }

    /// Goes on by one step, which takes something of what is pending or changes the state.
    fn step(&mut self, end: Option<End>) -> Result<(), More> {
        match &self.state {
            State::Line => self.line(end),
            State::Text => {
                let (length, has_ended) = self.pending.line();
                if has_ended {
                    self.state = State::Line;
                }
                self.give(length, matches!(self.around, Around::Code(_)));
                Ok(())
            }
            State::Object(_) => self.object(end),
            State::Behind(fence) => {
                let length = behind(self.pending.cursor(end.is_some()), *fence)?;
                self.state = State::Line;
                self.pending.swallow(length);
                Ok(())
            }
            State::Wrong => {
                let (length, has_ended) = self.pending.line();
                if has_ended {
                    self.state = State::Line;
                }
                self.pending.swallow(length);
                Ok(())
            }
        }
    }

    /// At the beginning of a line.
    fn line(&mut self, end: Option<End>) -> Result<(), More> {
        let mut cursor = self.pending.cursor(end.is_some());
        let fence = match self.around {
            Around::Nothing => None,
            Around::Code(fence) | Around::Calls(fence) => Some(fence),
        };
        if let Some(fence) = fence {
            if fence.close(&mut cursor)? {
                let length = cursor.at();
                match std::mem::replace(&mut self.around, Around::Nothing) {
                    Around::Calls(_) => self.pending.swallow(length),
                    _ => self.give(length, true),
                }
                return Ok(());
            }
        }
        if self.is_broken || matches!(self.around, Around::Code(_)) {
            self.state = State::Text;
            return Ok(());
        }
        match opening(cursor, fence, &self.known)? {
            Opening::Prose => self.state = State::Text,
            Opening::Code(fence) => {
                self.around = Around::Code(fence);
                self.state = State::Text;
            }
            Opening::Call(start) => self.open(start, end),
        }
        Ok(())
    }

    /// At the beginning of a call.
    fn open(&mut self, start: Start, end: Option<End>) {
        self.mentions = None;
        if let Some(fence) = start.around {
            self.around = Around::Calls(fence);
        }
        match start.next {
            Next::Object(fence) => {
                let body = Body::new(start.name, fence, start.length);
                self.state = State::Object(Box::new(body));
            }
            Next::Nothing { at_end: true } if end == Some(End::CutOff) => {
                self.malformed(&Malformed::CutOff, &start.name, start.length);
            }
            Next::Nothing { .. } => {
                self.pending.swallow(start.length);
                let (name, input) = (start.name, JsonObject::new());
                self.pieces.push(Piece::Call { name, input });
            }
            Next::Text => self.malformed(&Malformed::NoParameters, &start.name, start.length),
            Next::Wrong(found) => {
                self.malformed(&Malformed::NoObject(found), &start.name, start.length);
                self.state = State::Wrong;
            }
        }
    }

    /// In the arguments of a call.
    fn object(&mut self, end: Option<End>) -> Result<(), More> {
        let State::Object(body) = &mut self.state else {
            return Ok(());
        };
        let length = body.end(self.pending.text(), self.dialect.arguments_bytes);
        if length.is_none() && end.is_none() {
            if body.dropped.is_some() {
                body.forget();
                let length = self.pending.text().len();
                self.pending.swallow(length);
            }
            return Err(More);
        }
        let State::Object(body) = std::mem::replace(&mut self.state, State::Line) else {
            return Ok(());
        };
        self.state = State::Behind(body.fence);
        match self.read(&body, length, end) {
            Ok(input) => {
                let length = length.unwrap_or(self.pending.text().len());
                self.pending.swallow(length);
                let name = body.name;
                self.pieces.push(Piece::Call { name, input });
            }
            Err(problem) => {
                let length = length.unwrap_or(self.pending.text().len());
                self.malformed(&problem, &body.name, length);
                if let (Some(Piece::Malformed { source, .. }), Some(dropped)) =
                    (self.pieces.last_mut(), body.dropped)
                {
                    *source = dropped;
                }
            }
        }
        Ok(())
    }

    /// Reads arguments that are complete, or of which no more comes.
    fn read(
        &self,
        body: &Body,
        length: Option<usize>,
        end: Option<End>,
    ) -> Result<JsonObject, Malformed> {
        if body.dropped.is_some() {
            return Err(Malformed::TooLong(self.dialect.arguments_bytes));
        }
        if length.is_none() && end == Some(End::CutOff) {
            return Err(Malformed::CutOff);
        }
        if body.scanner.deepest() > self.dialect.arguments_depth {
            return Err(Malformed::TooDeep(self.dialect.arguments_depth));
        }
        let length = length.unwrap_or(self.pending.text().len());
        read(&self.pending.text()[body.start..length]).map_err(Malformed::NoJson)
    }

    fn malformed(&mut self, problem: &Malformed, name: &str, length: usize) {
        let source = self.pending.text()[..length].to_owned();
        self.pending.swallow(length);
        self.pieces.push(problem.piece(name, source));
        self.is_broken = true;
    }

    /// Gives so much of what is pending as text.
    fn give(&mut self, length: usize, is_code: bool) {
        let text = self.pending.take(length);
        if let Some(mentions) = &mut self.mentions {
            mentions.add(if is_code { "\n\n" } else { text });
        }
        match self.pieces.last_mut() {
            Some(Piece::Text(before)) => before.push_str(text),
            _ if text.is_empty() => {}
            _ => self.pieces.push(Piece::Text(text.to_owned())),
        }
    }
}
