//! Forms.

use std::collections::BTreeMap;
use std::fmt;

use treenail_schema::{ElicitSchema, ElicitValue, Revision};

/// A type whose values a user can be asked for in a form.
pub trait Form: Sized + Send + 'static {
    /// The fields, in the newest vocabulary of the protocol.
    fn schema() -> ElicitSchema;

    /// Reads what the user entered.
    fn read(content: BTreeMap<String, ElicitValue>) -> Result<Self, FormError>;
}

/// What is wrong.
#[derive(Debug)]
pub struct FormError(String);

impl FormError {
    /// One problem.
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

impl fmt::Display for FormError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

pub(crate) fn speak_form(schema: ElicitSchema, _: Revision) -> ElicitSchema {
    schema
}

pub(crate) fn check_content(
    schema: &ElicitSchema,
    content: &BTreeMap<String, ElicitValue>,
) -> Result<(), FormError> {
    for name in schema.required.iter().flatten() {
        if !content.contains_key(name) {
            return Err(FormError::new(format!("`{name}` is missing")));
        }
    }
    Ok(())
}
