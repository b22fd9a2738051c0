//! Forms: types that a user can fill in.
//!
//! `visitor` traverses the fields of a form. `field` describes one field and converts its content to a Rust value;
//! `value`, `choice` and `library_type` implement the field types. `content` validates content against a schema, using `format` for
//! strings and `options` for choices. `describe` formats the expected values for messages. `downgrade` converts forms
//! for older peers.

mod choice;
mod content;
mod describe;
mod downgrade;
mod error;
mod field;
mod format;
#[cfg(any(
    feature = "chrono",
    feature = "jiff",
    feature = "rust_decimal",
    feature = "url",
    feature = "uuid"
))]
mod library_type;
mod options;
mod value;
mod visitor;

use std::collections::BTreeMap;

use treenail_schema::{ElicitSchema, ElicitValue};

pub use self::choice::FormChoice;
pub use self::content::{check_content, parse_form_content};
pub(crate) use self::content::{check_defaults, parse_choice_lists};
#[cfg(feature = "client")]
pub use self::describe::describe_field;
pub use self::downgrade::downgrade_form;
pub use self::error::{FieldError, FormError};
pub use self::field::{Field, FormField};
pub use self::format::StringFormat;
pub use self::visitor::{FormFields, FormVisitor};

/// A form that a user can fill in.
///
/// `#[mcp_form]` implements it for a struct with named fields.
///
/// # Security
///
/// A form must not ask for secrets such as passwords, keys, tokens or card numbers. Its content passes through the
/// client, where a model or a log may see it.
///
/// # Example
///
/// A form whose fields are known only at run time is implemented by hand. [`FormField`] reads its values:
///
/// ```
/// use std::collections::BTreeMap;
///
/// use treenail::schema::{ElicitFields, ElicitSchema, ElicitValue, StringSchema};
/// use treenail::form::{Form, FormError};
///
/// struct Answers(Vec<String>);
///
/// # fn questions() -> [&'static str; 2] { ["colour", "animal"] }
/// impl Form for Answers {
///     fn schema() -> ElicitSchema {
///         let mut fields = ElicitFields::default();
///         for question in questions() {
///             fields.insert(question, StringSchema::new());
///         }
///         ElicitSchema::new(fields)
///     }
///
///     fn read(mut content: BTreeMap<String, ElicitValue>) -> Result<Self, FormError> {
///         let answers = questions().into_iter().map(|question| match content.remove(question) {
///             Some(ElicitValue::String(answer)) => Ok(answer),
///             _ => Err(FormError::new(question, "expected a string")),
///         });
///         answers.collect::<Result<_, _>>().map(Self)
///     }
/// }
///
/// let content = questions().map(|question| (question.to_owned(), ElicitValue::from("cat")));
/// assert_eq!(Answers::read(content.into())?.0, ["cat", "cat"]);
/// # Ok::<(), FormError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a form",
    label = "a user cannot be asked for this",
    note = "put `#[mcp_form]` on a struct with named fields, and name it: `let guest: Guest = cx.elicit(…).await?`"
)]
pub trait Form: Sized + Send + 'static {
    /// Returns the schema of the form in the newest protocol revision, with the fields in display order.
    fn schema() -> ElicitSchema;

    /// Converts the content to a value. Fields that the form does not have are ignored.
    ///
    /// # Errors
    ///
    /// Lists every field that does not match the schema, with the expected value.
    fn read(content: BTreeMap<String, ElicitValue>) -> Result<Self, FormError>;
}

#[diagnostic::do_not_recommend]
impl<T: FormFields> Form for T {
    fn schema() -> ElicitSchema {
        let mut visitor = FormVisitor::for_schema();
        T::fields(&mut visitor);
        visitor.into_schema()
    }

    fn read(content: BTreeMap<String, ElicitValue>) -> Result<Self, FormError> {
        let mut visitor = FormVisitor::for_content(content);
        let form = T::fields(&mut visitor);
        visitor.finish(form)
    }
}
