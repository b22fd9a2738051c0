//! A failure that the model is meant to read.

use std::error::Error;
use std::fmt::{self, Write};

use treenail_schema::ContentBlock;

/// Why a tool failed, in words for the model that called it.
///
/// A tool may return any error that turns into `Box<dyn Error + Send + Sync>`: every [`std::error::Error`], `anyhow::Error`,
/// `String`, `&str`. Its message and those of its sources become the text of a result with `isError: true`. A
/// `ToolError` is for failures that carry more than text; `?` turns any [`std::error::Error`] into one.
///
/// ```
/// use treenail_runtime::ToolError;
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
    /// A failure told in one text.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            content: vec![ContentBlock::text(message)],
        }
    }

    /// A failure told in content blocks, for example with a screenshot of what was seen.
    pub fn with_content(content: Vec<ContentBlock>) -> Self {
        Self { content }
    }

    /// The text of an error and of everything that caused it.
    pub(crate) fn from_boxed(error: Box<dyn Error + Send + Sync>) -> Self {
        match error.downcast::<Carried>() {
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
    fn from(error: ToolError) -> Self {
        Box::new(Carried(error))
    }
}

/// A [`ToolError`] on its way through `Box<dyn Error>`; it is not an error itself so that `?` can make one of any error.
#[derive(Debug)]
struct Carried(ToolError);

impl fmt::Display for Carried {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl Error for Carried {}

/// The messages of an error and its sources, outermost first; a source that the message before it repeats is left out.
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
