//! Traversal of the fields of a form.

use std::collections::BTreeMap;

use treenail_schema::{ElicitFields, ElicitSchema, ElicitValue};

use crate::form::error::{FieldError, FormError};
use crate::form::field::Field;

/// Traversal of a form's fields in order; `#[mcp_form]` implements it.
pub trait FormFields: Sized + Send + 'static {
    /// Passes each field to `visitor` and returns the form if every field has a value.
    fn fields(visitor: &mut FormVisitor) -> Option<Self>;
}

/// Visitor of form fields: collects their schemas, or reads their content.
#[derive(Debug)]
pub struct FormVisitor {
    /// Content to read; `None` if the visitor collects the schema.
    content: Option<BTreeMap<String, ElicitValue>>,
    problems: Vec<FieldError>,
    fields: ElicitFields,
    required: Vec<String>,
}

impl FormVisitor {
    #[inline]
    pub(super) fn for_schema() -> Self {
        Self {
            content: None,
            problems: Vec::new(),
            fields: ElicitFields::default(),
            required: Vec::new(),
        }
    }

    #[inline]
    pub(super) fn for_content(content: BTreeMap<String, ElicitValue>) -> Self {
        Self {
            content: Some(content),
            ..Self::for_schema()
        }
    }

    /// Visits the next field and returns its value if the visitor reads content and the value is valid.
    #[allow(
        clippy::needless_pass_by_value,
        reason = "the form creates the field for this call"
    )]
    pub fn field<T>(&mut self, field: Field<T>) -> Option<T> {
        let Some(content) = &mut self.content else {
            if field.default_value().is_none() {
                self.required.push(field.name.to_owned());
            }
            self.fields.insert(field.name, field.definition);
            return None;
        };
        let value = field.read(content.remove(field.name));
        let problem = |message| self.problems.push(FieldError::new(field.name, message));
        value.map_err(problem).ok()
    }

    #[inline]
    pub(super) fn into_schema(self) -> ElicitSchema {
        let schema = ElicitSchema::new(self.fields);
        if self.required.is_empty() {
            schema
        } else {
            schema.with_required(self.required)
        }
    }

    pub(super) fn finish<T>(self, form: Option<T>) -> Result<T, FormError> {
        let form = FormError::result_or_problems(self.problems, form)?;
        // Unreachable: a field without a value has recorded a problem.
        form.ok_or_else(|| FormError::new("", "missing"))
    }
}
