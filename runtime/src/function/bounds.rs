//! Conditions on arguments: ranges of numbers, and lengths of texts and lists.

use std::fmt;
use std::ops::{Bound, RangeBounds};

use serde_json::Value;

/// A condition on the value of an argument, and the keywords that say it in the schema.
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

    /// The same condition on a value that may be missing.
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

/// A type whose values `#[arg(range = …)]` can bound: numbers, and `Option`s of them.
#[diagnostic::on_unimplemented(
    message = "`range` cannot bound a `{Self}`",
    label = "this is not a number",
    note = "`range` is for numbers; for texts and lists write `length = 1..=10`"
)]
pub trait Bounded: Sized {
    /// The number that is bounded.
    type Number;

    /// The condition to be within `range`.
    fn range(range: impl RangeBounds<Self::Number> + Send + Sync + 'static) -> Check<Self>;
}

/// A type whose length `#[arg(length = …)]` can bound: texts, lists, and `Option`s of them.
#[diagnostic::on_unimplemented(
    message = "`length` cannot bound a `{Self}`",
    label = "this has no length",
    note = "`length` is for `String` and `Vec`; for numbers write `range = 1..=10`"
)]
pub trait Measured: Sized {
    /// The condition that the length, in characters or items, is within `range`.
    fn length(range: impl RangeBounds<usize> + Send + Sync + 'static) -> Check<Self>;
}

macro_rules! bounded {
    ($($number:ty)*) => {$(
        #[diagnostic::do_not_recommend]
        impl Bounded for $number {
            type Number = Self;

            fn range(range: impl RangeBounds<Self> + Send + Sync + 'static) -> Check<Self> {
                let low = match range.start_bound() {
                    Bound::Included(&bound) => Some(("minimum", bound.into())),
                    Bound::Excluded(&bound) => Some(("exclusiveMinimum", bound.into())),
                    Bound::Unbounded => None,
                };
                let high = match range.end_bound() {
                    Bound::Included(&bound) => Some(("maximum", bound.into())),
                    Bound::Excluded(&bound) => Some(("exclusiveMaximum", bound.into())),
                    Bound::Unbounded => None,
                };
                let keywords = low.into_iter().chain(high).collect();
                Check { holds: Box::new(move |value| range.contains(value)), keywords }
            }
        }
    )*};
}

bounded!(i8 i16 i32 i64 isize u8 u16 u32 u64 usize f32 f64);

#[diagnostic::do_not_recommend]
impl<T: Bounded + 'static> Bounded for Option<T> {
    type Number = T::Number;

    fn range(range: impl RangeBounds<T::Number> + Send + Sync + 'static) -> Check<Self> {
        T::range(range).optional()
    }
}

#[diagnostic::do_not_recommend]
impl Measured for String {
    fn length(range: impl RangeBounds<usize> + Send + Sync + 'static) -> Check<Self> {
        let keywords = whole("minLength", "maxLength", &range);
        Check {
            holds: Box::new(move |text: &Self| range.contains(&text.chars().count())),
            keywords,
        }
    }
}

#[diagnostic::do_not_recommend]
impl<T> Measured for Vec<T> {
    fn length(range: impl RangeBounds<usize> + Send + Sync + 'static) -> Check<Self> {
        let keywords = whole("minItems", "maxItems", &range);
        Check {
            holds: Box::new(move |list: &Self| range.contains(&list.len())),
            keywords,
        }
    }
}

#[diagnostic::do_not_recommend]
impl<T: Measured + 'static> Measured for Option<T> {
    fn length(range: impl RangeBounds<usize> + Send + Sync + 'static) -> Check<Self> {
        T::length(range).optional()
    }
}

/// A range of whole numbers as an inclusive minimum and maximum.
fn whole(
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
