//! What goes through the fields of a form.

use std::collections::BTreeMap;

use treenail_schema::{ElicitFields, ElicitSchema, ElicitValue};

use crate::form::error::{FieldError, FormError};
use crate::form::field::Field;

/// What `#[mcp_form]` implements: goes through the fields, in their order.
pub trait FormFields: Sized + Send + 'static {
    /// Shows each field to `visitor`; the form, if it has a value for each of them.
    fn fields(visitor: &mut FormVisitor) -> Option<Self>;
}

/// What goes through the fields of a form: to describe them, or to read what was entered in them.
#[derive(Debug)]
pub struct FormVisitor {
    /// What was entered, to be read.
    content: Option<BTreeMap<String, ElicitValue>>,
    problems: Vec<FieldError>,
    fields: ElicitFields,
    required: Vec<String>,
}

impl FormVisitor {
    pub(super) fn describing() -> Self {
        Self {
            content: None,
            problems: Vec::new(),
            fields: ElicitFields::default(),
            required: Vec::new(),
        }
    }

    pub(super) fn reading(content: BTreeMap<String, ElicitValue>) -> Self {
        Self {
            content: Some(content),
            ..Self::describing()
        }
    }

    /// The next field, and its value where one is read and as it should be.
    #[allow(
        clippy::needless_pass_by_value,
        reason = "the form has made it for this"
    )]
    pub fn field<T>(&mut self, field: Field<T>) -> Option<T> {
        let Some(content) = &mut self.content else {
            if field.fallback().is_none() {
                self.required.push(field.name.to_owned());
            }
            self.fields.insert(field.name, field.definition);
            return None;
        };
        let value = field.read(content.remove(field.name));
        let problem = |message| self.problems.push(FieldError::new(field.name, message));
        value.map_err(problem).ok()
    }

    pub(super) fn into_schema(self) -> ElicitSchema {
        let schema = ElicitSchema::new(self.fields);
        if self.required.is_empty() {
            schema
        } else {
            schema.with_required(self.required)
        }
    }

    pub(super) fn finish<T>(self, form: Option<T>) -> Result<T, FormError> {
        let form = FormError::unless(self.problems, form)?;
        // Not reached: a field without a value has left a problem.
        form.ok_or_else(|| FormError::new("", "missing"))
    }
}
