//! Detects announcements of calls in prose: "I will use the clock tool".

use crate::text::announcement::announced_tool;
use crate::text::known_tools::KnownTools;

/// Maximum size of an examined sentence, in bytes.
const MAX_SENTENCE_BYTES: usize = 512;

/// Maximum number of announcements examined in one message.
const MAX_MENTIONS: usize = 64;

/// Detects announcements in prose that arrives incrementally.
#[derive(Debug)]
pub(super) struct MentionDetector {
    /// Current sentence so far.
    sentence: String,
    /// Excludes the sentence: it is too long, or contains quotations or code.
    is_excluded: bool,
    /// Excludes the line: it is quoted or indented, or a quotation starts in it.
    line_is_excluded: bool,
    /// Indentation of the line, while it is blank.
    indent: Option<usize>,
    span: Span,
    /// Names of the announced tools.
    names: Vec<String>,
}

/// Kind of text around the current position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Span {
    Prose,
    Quotation,
    Code,
}

impl MentionDetector {
    pub(super) fn new() -> Self {
        Self {
            sentence: String::new(),
            is_excluded: false,
            line_is_excluded: false,
            indent: Some(0),
            span: Span::Prose,
            names: Vec::new(),
        }
    }

    /// Processes more prose.
    pub(super) fn push(&mut self, text: &str) {
        for character in text.chars() {
            self.push_char(character);
        }
    }

    /// Returns the announced tool, if it is the only one and can be called without arguments.
    pub(super) fn into_call(mut self, known: &KnownTools) -> Option<String> {
        self.end_sentence();
        self.names.retain(|name| known.has(name));
        self.names.sort_unstable();
        self.names.dedup();
        match self.names.as_slice() {
            [name] if known.callable_without_arguments(name) => Some(name.clone()),
            _ => None,
        }
    }

    fn push_char(&mut self, character: char) {
        let before = self.sentence.chars().next_back();
        match character {
            '\n' => {
                // A sentence continues across lines, but not across paragraphs.
                if self.indent.is_some() {
                    self.end_sentence();
                }
                self.line_is_excluded = false;
                self.indent = Some(0);
            }
            ' ' | '\t' if self.indent.is_some() => {
                let width = if character == '\t' { 4 } else { 1 };
                self.indent = self.indent.map(|indent| indent + width);
            }
            '\r' => return,
            other => {
                if let Some(indent) = self.indent.take() {
                    self.line_is_excluded |= indent >= 4 || matches!(other, '>' | '|');
                }
                self.track_quotes(other, before);
            }
        }
        self.is_excluded |= self.line_is_excluded || self.span != Span::Prose;
        if character.is_whitespace() && self.is_sentence_end() {
            self.end_sentence();
        } else if self.sentence.len() < MAX_SENTENCE_BYTES {
            self.sentence.push(character);
        } else {
            self.is_excluded = true;
        }
    }

    /// Tracks the marks of quotations and code.
    fn track_quotes(&mut self, character: char, before: Option<char>) {
        self.span = match (character, self.span) {
            ('"' | '“' | '„' | '«', Span::Prose) => Span::Quotation,
            ('`', Span::Prose) => Span::Code,
            ('"' | '”' | '»', Span::Quotation) | ('`', Span::Code) => Span::Prose,
            // Within a word, it is an apostrophe.
            ('\'' | '‘', _) if !before.is_some_and(char::is_alphanumeric) => {
                self.line_is_excluded = true;
                return;
            }
            _ => return,
        };
        self.is_excluded = true;
    }

    fn is_sentence_end(&self) -> bool {
        if self.sentence.ends_with(char::is_whitespace) {
            // The white space before this one did not end the sentence either.
            return false;
        }
        let last = self.sentence.split_whitespace().next_back();
        let Some(last) = last.filter(|last| last.ends_with(['.', '!', '?'])) else {
            return false;
        };
        // `e.g.`, `1.` and `...` do not end sentences.
        let word = last.trim_end_matches(['.', '!', '?']);
        let is_short = matches!(word, "e.g" | "i.e" | "etc" | "vs" | "cf" | "incl");
        let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
        !last.ends_with("..") && !is_short && !is_number
    }

    fn end_sentence(&mut self) {
        let sentence = std::mem::take(&mut self.sentence);
        // Text after a colon is qualified by the text before it.
        let excludes_next = sentence.trim_end().ends_with(':');
        let excludes_next = excludes_next || self.line_is_excluded || self.span != Span::Prose;
        let is_excluded = std::mem::replace(&mut self.is_excluded, excludes_next);
        if is_excluded || self.names.len() >= MAX_MENTIONS {
            return;
        }
        if let Some(name) = announced_tool(&sentence) {
            self.names.push(name.to_owned());
        }
    }
}
