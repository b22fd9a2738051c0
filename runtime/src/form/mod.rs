//! Forms: types whose values a user can be asked for.
//!
//! `visitor` goes through the fields of a form; `field` is one of them, from what is entered to its Rust type; `value` and
//! `choice` are the types that they can have. `content` checks what is entered against a schema, with `format` for texts and
//! `options` for choices; `words` says what was expected. `speak` is the form for older peers.

mod choice;
mod content;
mod error;
mod field;
mod format;
mod options;
mod speak;
mod value;
mod visitor;
mod words;

use std::collections::BTreeMap;

use treenail_schema::{ElicitSchema, ElicitValue};

pub use self::choice::FormChoice;
pub use self::content::{check_content, parse_form_content};
pub use self::error::{FieldError, FormError};
pub use self::field::{Field, FormField};
pub use self::format::StringFormat;
pub use self::speak::speak_form;
pub use self::visitor::{FormFields, FormVisitor};
#[cfg(feature = "client")]
pub use self::words::expected;

/// A type whose values a user can be asked for in a form.
///
/// `#[mcp_form]` implements it for a struct with named fields.
///
/// # Security
///
/// A form must not ask for secrets: passwords, keys, tokens, card numbers. What is entered passes through the client, where a
/// model or a log may see it.
///
/// # Example
///
/// A form that is known at run time only can be written by hand; [`FormField`] reads its values.
///
/// ```
/// use std::collections::BTreeMap;
///
/// use treenail_runtime::schema::{ElicitFields, ElicitSchema, ElicitValue, StringSchema};
/// use treenail_runtime::{Form, FormError};
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
///             _ => Err(FormError::new(question, "expected a text")),
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
    note = "put `#[mcp_form]` on a struct with named fields"
)]
pub trait Form: Sized + Send + 'static {
    /// The fields, in the newest vocabulary of the protocol and in the order in which they are shown.
    fn schema() -> ElicitSchema;

    /// Reads what the user entered. What was not asked for is ignored.
    ///
    /// # Errors
    ///
    /// All fields that are not as the schema says, with what was expected there.
    fn read(content: BTreeMap<String, ElicitValue>) -> Result<Self, FormError>;
}

#[diagnostic::do_not_recommend]
impl<T: FormFields> Form for T {
    fn schema() -> ElicitSchema {
        let mut visitor = FormVisitor::describing();
        T::fields(&mut visitor);
        visitor.into_schema()
    }

    fn read(content: BTreeMap<String, ElicitValue>) -> Result<Self, FormError> {
        let mut visitor = FormVisitor::reading(content);
        let form = T::fields(&mut visitor);
        visitor.finish(form)
    }
}
