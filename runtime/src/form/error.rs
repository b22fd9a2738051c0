//! What is wrong with what a user entered.

use std::error::Error;
use std::fmt;

/// Why what a user entered is not a value of the form: one problem or more, each with its field.
///
/// ```
/// use treenail_runtime::FormError;
///
/// let error = FormError::new("guests", "expected an integer (1 to 12), got 40");
/// assert_eq!(
///     error.to_string(),
///     "the form is not filled in as asked:\n- `guests`: expected an integer (1 to 12), got 40"
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormError {
    problems: Vec<FieldError>,
}

/// What is wrong with one field of a form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    field: String,
    message: String,
}

impl FormError {
    /// The error of a form in which `field` is wrong.
    pub fn new(field: impl Into<String>, message: impl Into<String>) -> Self {
        let problems = vec![FieldError::new(field, message)];
        Self { problems }
    }

    /// The same error with one more field that is wrong.
    #[must_use]
    pub fn and(mut self, field: impl Into<String>, message: impl Into<String>) -> Self {
        self.problems.push(FieldError::new(field, message));
        self
    }

    /// The fields that are wrong, in the order of the form; there is at least one.
    pub fn problems(&self) -> &[FieldError] {
        &self.problems
    }

    /// The value if there are no problems with it.
    pub(super) fn unless<T>(problems: Vec<FieldError>, value: T) -> Result<T, Self> {
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

    /// The name of the field.
    pub fn field(&self) -> &str {
        &self.field
    }

    /// What is wrong with it: what was expected, and what it is.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for FormError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the form is not filled in as asked:")?;
        for FieldError { field, message } in &self.problems {
            write!(formatter, "\n- `{field}`: {message}")?;
        }
        Ok(())
    }
}

impl Error for FormError {}
