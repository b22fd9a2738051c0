//! Errors in the content of a form.

use std::error::Error;
use std::fmt;

/// Validation error of form content: at least one problem, each with its field.
///
/// ```
/// use treenail::form::FormError;
///
/// let error = FormError::new("guests", "expected an integer (1 to 12), got 40");
/// assert_eq!(
///     error.to_string(),
///     "the form content is invalid:\n- `guests`: expected an integer (1 to 12), got 40"
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormError {
    problems: Vec<FieldError>,
}

/// Validation error of one field of a form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    field: String,
    message: String,
}

impl FormError {
    /// Creates an error for a form in which `field` is wrong.
    pub fn new(field: impl Into<String>, message: impl Into<String>) -> Self {
        let problems = vec![FieldError::new(field, message)];
        Self { problems }
    }

    /// Adds another wrong field to the error.
    #[must_use]
    pub fn and(mut self, field: impl Into<String>, message: impl Into<String>) -> Self {
        self.problems.push(FieldError::new(field, message));
        self
    }

    /// Returns the errors of the fields, in the order of the fields of the form. The list is never empty.
    pub fn errors(&self) -> &[FieldError] {
        &self.problems
    }

    /// Returns the value if there are no problems.
    pub(super) fn result_or_problems<T>(problems: Vec<FieldError>, value: T) -> Result<T, Self> {
        if problems.is_empty() {
            Ok(value)
        } else {
            Err(Self { problems })
        }
    }
}

impl FieldError {
    pub(super) fn new(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            field: field.into(),
            message: message.into(),
        }
    }

    /// Returns the name of the field.
    pub fn field(&self) -> &str {
        &self.field
    }

    /// Returns the description of the problem, with the expected value and the actual one.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for FormError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the form content is invalid:")?;
        for error in &self.problems {
            write!(formatter, "\n- {error}")?;
        }
        Ok(())
    }
}

impl Error for FormError {}

impl fmt::Display for FieldError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "`{}`: {}", self.field, self.message)
    }
}

impl Error for FieldError {}
