//! The result of one request, written in place.

use std::fmt;

use serde::Serialize;
use serde_json::value::RawValue;
use treenail_schema::{ResultMetaObject, Revision};

use crate::revision::{ResultFormat, mark_wrapped};
use crate::server::Server;
use crate::wire::{Members, SyntaxError};

/// Writer of the result of one request, in the style of its peer's revision.
pub struct ResultWriter<'a> {
    out: &'a mut Vec<u8>,
    style: &'a ResultFormat,
    /// Set if the result is a failure.
    failed: bool,
}

impl fmt::Debug for ResultWriter<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ResultWriter")
            .field("style", &self.style)
            .finish_non_exhaustive()
    }
}

impl<'a> ResultWriter<'a> {
    pub(crate) fn new(out: &'a mut Vec<u8>, style: &'a ResultFormat) -> Self {
        Self {
            out,
            style,
            failed: false,
        }
    }

    pub(crate) fn style(&self) -> &'a ResultFormat {
        self.style
    }

    /// Returns the output buffer.
    pub(crate) fn out(&mut self) -> &mut Vec<u8> {
        self.out
    }

    /// Creates a writer of texts in the format of the newest revision. Without a server, they lack the members that each of its
    /// results has.
    pub fn of_text(out: &'a mut Vec<u8>, server: Option<&'a Server>) -> Self {
        let style = server.map_or(ResultFormat::bare(), |server| {
            server.style(Revision::LATEST)
        });
        Self::new(out, style)
    }

    /// Returns the current position, for [`ResultWriter::rewind`].
    pub fn mark(&self) -> usize {
        self.out.len()
    }

    /// Discards the output since `mark`.
    pub fn rewind(&mut self, mark: usize) {
        self.out.truncate(mark);
    }

    /// Writes a part of the text.
    pub fn push(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }

    /// Writes a value of the protocol's own types, whose serialization should not fail.
    pub(crate) fn value<T: Serialize + ?Sized>(&mut self, value: &T) {
        let start = self.out.len();
        if let Err(error) = serde_json::to_writer(&mut *self.out, value) {
            tracing::error!(%error, "a value of the protocol could not be written");
            self.out.truncate(start);
            self.push(b"null");
        }
    }

    /// Marks the result as a failure.
    pub(crate) fn fail(&mut self) {
        self.failed = true;
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.failed
    }

    /// Writes questions to the client, as the result of this round.
    pub(crate) fn input_required(&mut self, questions: &[(String, Box<RawValue>)], state: &str) {
        self.push(br#"{"resultType":"input_required","inputRequests":{"#);
        for (index, (key, request)) in questions.iter().enumerate() {
            if index > 0 {
                self.push(b",");
            }
            self.value(key);
            self.push(b":");
            self.push(request.get().as_bytes());
        }
        self.push(br#"},"requestState":"#);
        self.value(state);
        self.end_other(ResultMetaObject::default());
    }

    /// Writes the text of an object as the whole result, and adds the members that each result of the revision has. A
    /// `resultType` of its own stays.
    #[inline]
    pub(crate) fn object(&mut self, text: &str) -> Result<(), SyntaxError> {
        let mut members = Members::new(text)?;
        if !self.style.revision().is_modern() {
            self.push(text.as_bytes());
            return Ok(());
        }
        let (start, mut has_type, mut meta) = (self.mark(), false, None);
        while let Some((key, value)) = members.next()? {
            if key == "_meta" {
                meta = serde_json::from_str::<ResultMetaObject>(value).ok();
                continue;
            }
            has_type |= key == "resultType";
            self.push(if self.mark() == start { b"{" } else { b"," });
            self.value(&*key);
            self.push(b":");
            self.push(value.as_bytes());
        }
        if self.mark() == start {
            // Without members of its own.
            self.push(b"{");
        }
        if has_type {
            self.end_other(meta.unwrap_or_default());
        } else {
            self.end(meta);
        }
        Ok(())
    }

    /// Ends the object of a complete result with wrapped structured content, see [`ResultWriter::end`].
    pub(crate) fn end_wrapped(&mut self, meta: Option<ResultMetaObject>) {
        match meta {
            None => {
                self.push_more(self.style.wrapped_end());
                self.push(b"}");
            }
            Some(mut meta) => {
                mark_wrapped(&mut meta);
                self.end(Some(meta));
            }
        }
    }

    /// Ends the object of a complete result, and adds its own `_meta`.
    pub fn end(&mut self, meta: Option<ResultMetaObject>) {
        match meta {
            None => self.push_more(self.style.result_end()),
            Some(mut meta) => {
                self.style.complete_meta(&mut meta);
                self.push_more(self.style.result_type());
                self.push_more(br#","_meta":"#);
                self.value(&meta);
            }
        }
        self.push(b"}");
    }
}

impl ResultWriter<'_> {
    /// Ends the object of an incomplete result, which contains its own `resultType`.
    pub(crate) fn end_other(&mut self, mut meta: ResultMetaObject) {
        self.style.complete_meta(&mut meta);
        self.push_more(br#","_meta":"#);
        self.value(&meta);
        self.push(b"}");
    }

    /// Writes members after others, with a comma that the first ones do not need.
    fn push_more(&mut self, members: &[u8]) {
        let is_first = self.out.last() == Some(&b'{');
        self.push(&members[usize::from(is_first && !members.is_empty())..]);
    }
}
