//! Tool errors: failures that are reported to the model.

use std::error::Error;
use std::fmt::{self, Write};

use treenail_schema::ContentBlock;

use crate::error::carried;

/// The error of a tool call, written for the model that made the call.
///
/// A tool may return any error that converts to `Box<dyn Error + Send + Sync>`: every [`std::error::Error`],
/// `anyhow::Error`, `String`, `&str`. Its message and those of its sources become the text of a result with `isError:
/// true`. A `ToolError` is for failures with more than text. The `?` operator converts any [`std::error::Error`] to
/// one.
///
/// ```
/// use treenail::ToolError;
///
/// fn parse(text: &str) -> Result<u8, ToolError> {
///     if text.is_empty() {
///         return Err(ToolError::new("give a number from 0 to 255"));
///     }
///     Ok(text.parse()?)
/// }
/// assert_eq!(parse("x").unwrap_err().to_string(), "invalid digit found in string");
/// ```
#[derive(Debug)]
pub struct ToolError {
    content: Vec<ContentBlock>,
}

impl ToolError {
    /// Creates an error with a text message.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            content: vec![ContentBlock::text(message)],
        }
    }

    /// Creates an error with content blocks, for example with a screenshot.
    pub fn with_content(content: Vec<ContentBlock>) -> Self {
        Self { content }
    }

    /// Returns the content blocks.
    ///
    /// ```
    /// use treenail::ToolError;
    /// use treenail::schema::ContentBlock;
    ///
    /// let error = ToolError::new("no such room");
    /// assert_eq!(error.content(), [ContentBlock::text("no such room")]);
    /// ```
    pub fn content(&self) -> &[ContentBlock] {
        &self.content
    }

    /// Converts an error, including the messages of its sources. A `ToolError` is returned unchanged, also if a
    /// [`treenail::Error`](crate::Error) carries it.
    pub(crate) fn from_boxed(error: Box<dyn Error + Send + Sync>) -> Self {
        match carried(error).downcast::<Carried>() {
            Ok(carried) => carried.0,
            Err(error) => Self::new(with_sources(&*error)),
        }
    }

    pub(crate) fn into_content(self) -> Vec<ContentBlock> {
        self.content
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for block in &self.content {
            if let ContentBlock::Text(text) = block {
                write!(formatter, "{separator}{}", text.text)?;
                separator = "\n";
            }
        }
        Ok(())
    }
}

impl<E: Error> From<E> for ToolError {
    fn from(error: E) -> Self {
        Self::new(with_sources(&error))
    }
}

impl From<ToolError> for Box<dyn Error + Send + Sync> {
    #[inline]
    fn from(error: ToolError) -> Self {
        Box::new(Carried(error))
    }
}

/// A [`ToolError`] inside a `Box<dyn Error>`.
///
/// `ToolError` does not implement `Error` itself, so that `?` can convert any error to it.
#[derive(Debug)]
struct Carried(ToolError);

impl fmt::Display for Carried {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl Error for Carried {}

/// Joins the messages of an error and its sources, outermost first. A source that the previous message repeats is
/// omitted.
fn with_sources(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let message = cause.to_string();
        if !text.ends_with(&message) {
            // Writing to a string cannot fail.
            let _ = write!(text, ": {message}");
        }
        source = cause.source();
    }
    text
}
