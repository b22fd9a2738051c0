//! A single field of a form: its schema, and the conversion of its content to a Rust value.

use std::error::Error;
use std::fmt;

use serde_json::Value;
use treenail_schema::{
    ElicitValue, Number, NumberSchema, NumberSchemaType, PrimitiveSchemaDefinition,
    StringSchemaFormat,
};

use crate::form::content::normalize;
use crate::form::describe::{describe_field, truncated_json};
use crate::function::bounds::Check;

/// A type of a form field.
///
/// Implemented for `String`, numbers (all integers except 128-bit ones, `f32`, `f64`), `bool`, choices (enums with
/// `#[mcp_form]`) and `Vec`s of choices. An `Option` of any of them is an optional field. A `Vec` is optional too,
/// unless its `length` has a minimum.
///
/// With the features of `treenail` called `chrono`, `jiff`, `rust_decimal`, `url` and `uuid`, a field can also be a
/// `NaiveDate`, `DateTime<Utc>`, `DateTime<FixedOffset>`, `civil::Date`, `Timestamp`, `Decimal`, `Url` or `Uuid`. Dates, times and
/// URLs have the format of their type.
///
/// # Example
///
/// A custom type that is entered as a string:
///
/// ```
/// use std::error::Error;
///
/// use treenail::form::FormField;
/// use treenail::schema::{ElicitValue, PrimitiveSchemaDefinition, StringSchema};
///
/// /// A code of two letters.
/// struct Country(String);
///
/// impl FormField for Country {
///     fn schema() -> PrimitiveSchemaDefinition {
///         StringSchema::new().with_min_length(2).with_max_length(2).into()
///     }
///
///     fn read(value: ElicitValue) -> Result<Self, Box<dyn Error + Send + Sync>> {
///         let code = String::read(value)?;
///         match code.bytes().all(|byte| byte.is_ascii_uppercase()) {
///             true => Ok(Self(code)),
///             false => Err("write two capital letters".into()),
///         }
///     }
/// }
///
/// assert_eq!(Country::read("NO".into())?.0, "NO");
/// # Ok::<(), Box<dyn Error + Send + Sync>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a field of a form",
    label = "a field is a `String`, a number, a `bool`, a choice, a `Vec` of choices or an `Option`",
    note = "put `#[mcp_form]` on an enum without data to make it a choice, or implement `FormField` for a type of your own"
)]
pub trait FormField: Sized + Send + 'static {
    /// Returns the schema of the field. Title, description and default are added from the field's attributes.
    fn schema() -> PrimitiveSchemaDefinition;

    /// Converts content that has already been validated against the schema.
    ///
    /// # Errors
    ///
    /// Any further problem with the value. The message is shown to the user, so it should explain how to correct the
    /// value.
    fn read(value: ElicitValue) -> Result<Self, Box<dyn Error + Send + Sync>>;

    /// Returns the initial content of a field whose default is this value; `None` shows no default.
    fn write(&self) -> Option<ElicitValue> {
        None
    }

    /// Returns the value of a field that is left empty; `None` makes the field required.
    fn absent() -> Option<Self> {
        None
    }

    #[doc(hidden)]
    fn field(name: &'static str) -> Field<Self> {
        Field {
            name,
            definition: Self::schema(),
            read: Self::read,
            write: Self::write,
            absent: Self::absent,
            default: None,
            checks: Vec::new(),
        }
    }
}

/// One field of a form, as `#[mcp_form]` declares it.
///
/// Stores the operations on `T` as functions, so only the constructor needs trait bounds on `T`.
pub struct Field<T> {
    pub(super) name: &'static str,
    pub(super) definition: PrimitiveSchemaDefinition,
    read: fn(ElicitValue) -> Result<T, Box<dyn Error + Send + Sync>>,
    write: fn(&T) -> Option<ElicitValue>,
    absent: fn() -> Option<T>,
    default: Option<fn() -> T>,
    checks: Vec<Check<T>>,
}

impl<T> fmt::Debug for Field<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Field")
            .field("name", &self.name)
            .field("definition", &self.definition)
            .finish_non_exhaustive()
    }
}

/// Runs the same expression on the variant of each kind of field.
macro_rules! each_kind {
    ($definition:expr, $field:ident => $do:expr) => {
        match $definition {
            PrimitiveSchemaDefinition::String($field) => $do,
            PrimitiveSchemaDefinition::Number($field) => $do,
            PrimitiveSchemaDefinition::Boolean($field) => $do,
            PrimitiveSchemaDefinition::UntitledSingleSelectEnum($field) => $do,
            PrimitiveSchemaDefinition::TitledSingleSelectEnum($field) => $do,
            PrimitiveSchemaDefinition::UntitledMultiSelectEnum($field) => $do,
            PrimitiveSchemaDefinition::TitledMultiSelectEnum($field) => $do,
            PrimitiveSchemaDefinition::LegacyTitledEnum($field) => $do,
            _ => {}
        }
    };
}

impl<T> Field<T> {
    /// Sets the title that is displayed to the user.
    #[must_use]
    pub fn title(mut self, title: &str) -> Self {
        each_kind!(&mut self.definition, field => field.title = Some(title.to_owned()));
        self
    }

    /// Sets the description of the field.
    #[must_use]
    pub fn description(mut self, description: &str) -> Self {
        each_kind!(&mut self.definition, field => field.description = Some(description.to_owned()));
        self
    }

    /// Makes the field optional: `make` returns its value when it is left empty, and its initial content.
    #[must_use]
    pub fn default(mut self, make: fn() -> T) -> Self {
        if let Some(value) = (self.write)(&make()) {
            set_default(&mut self.definition, value);
        }
        self.default = Some(make);
        self
    }

    /// Accepts only values for which `check` holds.
    #[must_use]
    pub fn check(mut self, check: Check<T>) -> Self {
        for (keyword, bound) in check.keywords() {
            set_bound(&mut self.definition, keyword, bound);
        }
        self.checks.push(check);
        self
    }

    /// Accepts only strings of this format.
    #[must_use]
    pub fn format(mut self, format: StringSchemaFormat) -> Self {
        if let PrimitiveSchemaDefinition::String(text) = &mut self.definition {
            text.format = Some(format);
        }
        self
    }

    /// Returns the value of the field if it is left empty.
    pub(super) fn default_value(&self) -> Option<T> {
        match self.default {
            Some(make) => Some(make()),
            None => (self.absent)().filter(|value| self.holds(value)),
        }
    }

    fn holds(&self, value: &T) -> bool {
        self.checks.iter().all(|check| check.holds(value))
    }

    pub(super) fn read(&self, entered: Option<ElicitValue>) -> Result<T, String> {
        let fallback = self.default_value();
        let value = match entered {
            Some(value) => self.read_entered(value, fallback.is_none())?,
            None => None,
        };
        match (value, fallback) {
            (Some(value), _) => Ok(value),
            (None, Some(value)) if self.holds(&value) => Ok(value),
            (None, Some(_)) => Err("the default of this field is out of range".to_owned()),
            (None, None) => Err(format!(
                "missing; expected {}",
                describe_field(&self.definition)
            )),
        }
    }

    /// Returns the value that was entered, or `None` if the field was left empty: an empty string that is no value of an optional
    /// field.
    fn read_entered(&self, value: ElicitValue, required: bool) -> Result<Option<T>, String> {
        let Some(value) = normalize(&self.definition, value, required)? else {
            return Ok(None);
        };
        let is_empty = matches!(&value, ElicitValue::String(text) if text.is_empty());
        let text = truncated_json(&value);
        match (self.read)(value) {
            Ok(value) if self.holds(&value) => Ok(Some(value)),
            // Form schemas have no exclusive bounds, so the description of the expected value does not contain this
            // bound.
            Ok(_) => Err(format!("{text} is out of range")),
            Err(_) if is_empty && !required => Ok(None),
            Err(error) => Err(error.to_string()),
        }
    }
}

#[inline]
fn set_default(definition: &mut PrimitiveSchemaDefinition, value: ElicitValue) {
    use PrimitiveSchemaDefinition as Kind;
    match (definition, value) {
        (Kind::String(field), ElicitValue::String(value)) => field.default = Some(value),
        (Kind::UntitledSingleSelectEnum(field), ElicitValue::String(value)) => {
            field.default = Some(value);
        }
        (Kind::TitledSingleSelectEnum(field), ElicitValue::String(value)) => {
            field.default = Some(value);
        }
        (Kind::LegacyTitledEnum(field), ElicitValue::String(value)) => field.default = Some(value),
        (Kind::Number(field), ElicitValue::Number(value)) => field.default = Some(value),
        (Kind::Boolean(field), ElicitValue::Boolean(value)) => field.default = Some(value),
        (Kind::UntitledMultiSelectEnum(field), ElicitValue::Strings(values)) => {
            field.default = Some(values);
        }
        (Kind::TitledMultiSelectEnum(field), ElicitValue::Strings(values)) => {
            field.default = Some(values);
        }
        // A default of the wrong kind would make the form invalid.
        _ => {}
    }
}

#[inline]
fn set_bound(definition: &mut PrimitiveSchemaDefinition, keyword: &str, bound: &Value) {
    use PrimitiveSchemaDefinition as Kind;
    let whole = bound.as_i64().unwrap_or(i64::MAX);
    match (definition, keyword) {
        (Kind::Number(field), _) => set_number_bound(field, keyword, bound),
        (Kind::String(field), "minLength") => field.min_length = Some(whole),
        (Kind::String(field), "maxLength") => field.max_length = Some(whole),
        (Kind::UntitledMultiSelectEnum(field), "minItems") => field.min_items = Some(whole),
        (Kind::UntitledMultiSelectEnum(field), "maxItems") => field.max_items = Some(whole),
        (Kind::TitledMultiSelectEnum(field), "minItems") => field.min_items = Some(whole),
        (Kind::TitledMultiSelectEnum(field), "maxItems") => field.max_items = Some(whole),
        _ => {}
    }
}

/// Sets an inclusive bound, the only kind that form schemas have.
///
/// An exclusive bound of an integer is moved by one; that of any other number is declared unchanged.
fn set_number_bound(field: &mut NumberSchema, keyword: &str, bound: &Value) {
    let Value::Number(number) = bound else {
        return;
    };
    let number = Number::from(number.clone());
    let moved = |by: i64| match field.type_ {
        NumberSchemaType::Integer => number.as_i64().map(|bound| bound.saturating_add(by).into()),
        _ => None,
    };
    match keyword {
        "minimum" => field.minimum = Some(number),
        "maximum" => field.maximum = Some(number),
        "exclusiveMinimum" => field.minimum = moved(1).or(Some(number)),
        "exclusiveMaximum" => field.maximum = moved(-1).or(Some(number)),
        _ => {}
    }
}
