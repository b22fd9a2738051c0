//! Forms in all their shapes.

#![allow(dead_code, reason = "the form is read by its macro")]

use std::error::Error;

use treenail::form::{Form, FormField, StringFormat};
use treenail::schema::{ElicitValue, PrimitiveSchemaDefinition, StringSchema};
use treenail::{mcp_form, mcp_type};

#[mcp_form]
#[derive(Clone, Debug)]
pub(crate) struct Everything {
    /// A text.
    text: String,
    #[field(format = "date-time", length = ..=40)]
    time: String,
    #[field(format = "uri", default = "https://example.com/")]
    uri: Text,
    #[field(format = "email", length = 3..)]
    email: Option<String>,
    r#type: bool,
    #[field(name = "more numbers", title = "More", range = 0.5.., default)]
    number: f64,
    #[field(range = 1..10, default = 2)]
    few: i64,
    #[field(range = ..=10, default = Some(3))]
    optional: Option<usize>,
    #[field(default = Unit::Foot)]
    unit: Unit,
    units: Option<Vec<Unit>>,
    #[field(length = 1..=2, default = vec![Unit::Foot])]
    some: Vec<Unit>,
    #[cfg(any())]
    nothing: Nothing,
    #[cfg(test)]
    #[deprecated]
    old: u8,
}

#[mcp_form]
struct Empty {}

#[mcp_form]
#[mcp_type]
#[derive(Clone, Copy, Debug)]
pub enum Unit {
    /// As elsewhere.
    Metre = 1,
    #[field(name = "ft", title = "Foot")]
    Foot = 7,
    #[cfg(any())]
    Nothing,
}

#[mcp_type]
#[mcp_form]
struct Both {
    #[field(title = "Unit")]
    unit: Unit,
}

#[derive(Clone, Debug)]
struct Text(String);

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl FormField for Text {
    fn schema() -> PrimitiveSchemaDefinition {
        StringSchema::new().into()
    }

    fn read(value: ElicitValue) -> Result<Self, Box<dyn Error + Send + Sync>> {
        String::read(value).map(Self)
    }
}

impl StringFormat for Text {}

macro_rules! form {
    ($name:ident { $($field:ident: $ty:ty = $default:expr),* }) => {
        #[mcp_form]
        struct $name {
            $(#[field(default = $default)] $field: $ty,)*
        }
    };
}

form!(Made {
    a: u8 = 1,
    b: String = "b"
});

pub(crate) fn main() {
    assert_eq!(Everything::schema().properties.len(), 12);
    assert!(Everything::read([].into()).is_err());
    assert!(Empty::read([].into()).is_ok());
    assert!(
        Both::read([("unit".to_owned(), "ft".into())].into())
            .is_ok_and(|both| both.unit as u8 == 7)
    );
    assert!(Made::read([].into()).is_ok_and(|made| made.a == 1 && made.b == "b"));
}
