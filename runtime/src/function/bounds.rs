//! Constraints on arguments: ranges of numbers, and lengths of strings and lists.

use std::fmt;
use std::ops::{Bound, RangeBounds};

use serde_json::{Map, Value};

use crate::attribute_value::IntoRange;

/// The schema keyword that names the header of an argument.
pub(crate) const HEADER_KEYWORD: &str = "x-mcp-header";

/// A constraint on the value of an argument, with the schema keywords that declare it.
pub struct Check<T> {
    holds: Box<dyn Fn(&T) -> bool + Send + Sync>,
    keywords: Vec<(&'static str, Value)>,
}

impl<T> fmt::Debug for Check<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Check")
            .field("keywords", &self.keywords)
            .finish_non_exhaustive()
    }
}

impl<T> Check<T> {
    pub(crate) fn holds(&self, value: &T) -> bool {
        (self.holds)(value)
    }

    pub(crate) fn keywords(&self) -> &[(&'static str, Value)] {
        &self.keywords
    }

    /// Adds the keywords to the schema of an argument. Those of a value that may be null bound the alternative beside null.
    pub(crate) fn declare(&self, property: &mut Map<String, Value>) {
        let is_null = |schema: &Value| schema.get("type").is_some_and(|kind| kind == "null");
        for (keyword, bound) in &self.keywords {
            let schema = match property.get_mut("anyOf").and_then(Value::as_array_mut) {
                Some(alternatives) if *keyword != HEADER_KEYWORD => match &mut **alternatives {
                    [Value::Object(other), null] if is_null(null) => other,
                    _ => &mut *property,
                },
                _ => &mut *property,
            };
            // That of the type is no longer the closest one.
            match *keyword {
                "exclusiveMinimum" => schema.remove("minimum"),
                "exclusiveMaximum" => schema.remove("maximum"),
                _ => None,
            };
            schema.insert((*keyword).to_owned(), bound.clone());
        }
    }

    /// Applies the constraint to a value that may be missing.
    fn optional(self) -> Check<Option<T>>
    where
        T: 'static,
    {
        let holds = self.holds;
        Check {
            holds: Box::new(move |value| value.as_ref().is_none_or(&holds)),
            keywords: self.keywords,
        }
    }
}

/// A type that supports `#[arg(range = …)]`: floats, integers of at most 64 bits, and `Option`s of them.
#[diagnostic::on_unimplemented(
    message = "`range` cannot bound a `{Self}`",
    label = "`range` does not support this type",
    note = "`range` is for floats and for integers of at most 64 bits; for strings and lists write `length = 1..=10`",
    note = "a field of an `#[mcp_type]` with another type of number can have `#[schemars(range(min = 1))]`"
)]
pub trait HasRange: Sized {
    /// Type of the bounds.
    type Number;

    /// Creates the constraint that the value is within `range`.
    fn range(range: impl IntoRange<Self::Number>) -> Check<Self>;
}

/// A type that supports `#[arg(length = …)]`: `String`, `Vec`, and `Option`s of them.
#[diagnostic::on_unimplemented(
    message = "`length` cannot bound a `{Self}`",
    label = "`length` does not support this type",
    note = "`length` is for `String` and `Vec`; for numbers write `range = 1..=10`",
    note = "a field of an `#[mcp_type]` with another type of string or list can have `#[schemars(length(min = 1))]`"
)]
pub trait HasLength: Sized {
    /// Creates the constraint that the length, in characters or items, is within `range`.
    fn length(range: impl IntoRange<usize>) -> Check<Self>;
}

/// A type that supports `#[arg(header = …)]`: strings, integers, `bool`, and `Option`s of them.
///
/// A custom type can implement it without a body if its schema has the type `string`, `integer` or `boolean`. With any
/// other schema, building the server fails. So it does with alternatives in the schema: those of an `Option` with a default, of
/// `Option<Option<T>>`, and of an enum whose variants have descriptions.
///
/// ```
/// use treenail::args::HeaderArgument;
///
/// enum Region {
///     Europe,
///     Asia,
/// }
///
/// impl HeaderArgument for Region {}
/// ```
#[diagnostic::on_unimplemented(
    message = "`header` cannot be used on a `{Self}`",
    label = "this is not a string, an integer or a `bool`",
    note = "a type of your own whose schema is a string, an integer or a boolean can implement `HeaderArgument`"
)]
pub trait HeaderArgument: Sized + 'static {
    /// Declares in the schema that the header `Mcp-Param-{name}` repeats the value.
    fn header(name: &'static str) -> Check<Self> {
        header_check(name, |_| true)
    }
}

fn header_check<T: 'static>(name: &'static str, holds: fn(&T) -> bool) -> Check<T> {
    Check {
        holds: Box::new(holds),
        keywords: vec![(HEADER_KEYWORD, name.into())],
    }
}

/// Largest integer that every language represents exactly (2^53 - 1), and the largest one that a header may have.
const MAX_EXACT_INTEGER: i64 = (1 << 53) - 1;

macro_rules! header_arguments {
    (wide $($number:ty, $lowest:expr;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl HeaderArgument for $number {
            #[inline]
            fn header(name: &'static str) -> Check<Self> {
                let exact = |number: &Self| {
                    i64::try_from(*number).is_ok_and(|it| (-MAX_EXACT_INTEGER..=MAX_EXACT_INTEGER).contains(&it))
                };
                let mut check = header_check(name, exact);
                check.keywords.push(("minimum", $lowest.into()));
                check.keywords.push(("maximum", MAX_EXACT_INTEGER.into()));
                check
            }
        }
    )*};
    ($($type:ty)*) => {$(
        #[diagnostic::do_not_recommend]
        impl HeaderArgument for $type {}
    )*};
}

header_arguments!(String Box<str> char bool i8 i16 i32 u8 u16 u32);
header_arguments!(wide i64, -MAX_EXACT_INTEGER; isize, -MAX_EXACT_INTEGER; u64, 0; usize, 0;);

#[diagnostic::do_not_recommend]
impl<T: HeaderArgument> HeaderArgument for Option<T> {
    fn header(name: &'static str) -> Check<Self> {
        T::header(name).optional()
    }
}

macro_rules! bounded {
    ($($number:ty),* => $json:expr) => {$(
        #[diagnostic::do_not_recommend]
        impl HasRange for $number {
            type Number = Self;

            fn range(range: impl IntoRange<Self>) -> Check<Self> {
                let low = match range.start_bound() {
                    Bound::Included(&bound) => Some(("minimum", $json(bound))),
                    Bound::Excluded(&bound) => Some(("exclusiveMinimum", $json(bound))),
                    Bound::Unbounded => None,
                };
                let high = match range.end_bound() {
                    Bound::Included(&bound) => Some(("maximum", $json(bound))),
                    Bound::Excluded(&bound) => Some(("exclusiveMaximum", $json(bound))),
                    Bound::Unbounded => None,
                };
                // JSON has no infinite numbers.
                let bounds = low.into_iter().chain(high);
                let keywords = bounds.filter(|(_, bound)| !bound.is_null()).collect();
                Check { holds: Box::new(move |value| range.contains(value)), keywords }
            }
        }
    )*};
}

bounded!(i8, i16, i32, i64, isize, u8, u16, u32, u64, usize, f64 => Value::from);
bounded!(f32 => json_of_f32);

fn json_of_f32(number: f32) -> Value {
    widen(number).into()
}

/// Returns the number with the same decimal digits, so that 0.1 does not become 0.10000000149011612.
pub(crate) fn widen(number: f32) -> f64 {
    let digits = number.to_string().parse();
    digits.unwrap_or_else(|_| number.into())
}

#[diagnostic::do_not_recommend]
impl<T: HasRange + 'static> HasRange for Option<T> {
    type Number = T::Number;

    fn range(range: impl IntoRange<T::Number>) -> Check<Self> {
        T::range(range).optional()
    }
}

#[diagnostic::do_not_recommend]
impl HasLength for String {
    fn length(range: impl IntoRange<usize>) -> Check<Self> {
        let keywords = inclusive_bounds("minLength", "maxLength", &range);
        Check {
            holds: Box::new(move |text: &Self| range.contains(&text.chars().count())),
            keywords,
        }
    }
}

#[diagnostic::do_not_recommend]
impl<T> HasLength for Vec<T> {
    fn length(range: impl IntoRange<usize>) -> Check<Self> {
        let keywords = inclusive_bounds("minItems", "maxItems", &range);
        Check {
            holds: Box::new(move |list: &Self| range.contains(&list.len())),
            keywords,
        }
    }
}

#[diagnostic::do_not_recommend]
impl<T: HasLength + 'static> HasLength for Option<T> {
    fn length(range: impl IntoRange<usize>) -> Check<Self> {
        T::length(range).optional()
    }
}

/// Converts a range of counts to an inclusive minimum and maximum.
fn inclusive_bounds(
    minimum: &'static str,
    maximum: &'static str,
    range: &impl RangeBounds<usize>,
) -> Vec<(&'static str, Value)> {
    let low = match range.start_bound() {
        Bound::Included(&bound) => Some(bound),
        Bound::Excluded(&bound) => Some(bound.saturating_add(1)),
        Bound::Unbounded => None,
    };
    let high = match range.end_bound() {
        Bound::Included(&bound) => Some(bound),
        Bound::Excluded(&bound) => Some(bound.saturating_sub(1)),
        Bound::Unbounded => None,
    };
    let low = low.map(|bound| (minimum, bound.into()));
    low.into_iter()
        .chain(high.map(|bound| (maximum, bound.into())))
        .collect()
}
