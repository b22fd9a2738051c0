//! Bounds of numbers, lengths and counts.

use std::cmp::Ordering;

use serde_json::{Number, Value};
use treenail_schema::JsonObject;

use crate::compare::schema::Effect;
use crate::compare::schema::side::Settled;
use crate::compare::schema::types::Types;
use crate::compare::schema::walk::{At, Walk};

/// Which values a bound leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leaves {
    /// Those from it on.
    Above,
    /// Those up to it.
    Below,
}

/// The bound of a number.
#[derive(Clone, Copy, Debug)]
struct Bound<'a> {
    keyword: &'static str,
    value: &'a Value,
    number: Exact,
    excluded: bool,
}

#[derive(Clone, Copy, Debug)]
enum Exact {
    Whole(i128),
    Fraction(f64),
}

impl Exact {
    fn of(number: &Number) -> Self {
        let whole = number.as_i64().map(i128::from);
        match whole.or_else(|| number.as_u64().map(i128::from)) {
            Some(whole) => Self::Whole(whole),
            None => Self::Fraction(number.as_f64().unwrap_or(f64::MAX)),
        }
    }

    fn cmp(self, other: Self) -> Ordering {
        match (self, other) {
            (Self::Whole(one), Self::Whole(other)) => one.cmp(&other),
            // JSON has no number that is not comparable.
            (one, other) => one
                .float()
                .partial_cmp(&other.float())
                .unwrap_or(Ordering::Equal),
        }
    }

    #[allow(
        clippy::cast_precision_loss,
        reason = "beside a fraction, that is as near as it gets"
    )]
    fn float(self) -> f64 {
        match self {
            Self::Whole(whole) => whole as f64,
            Self::Fraction(fraction) => fraction,
        }
    }
}

impl<'a> Walk<'_, 'a, '_, '_> {
    pub(super) fn numbers(&mut self, old: &Settled<'a>, new: &Settled<'a>, at: At<'_>) {
        if !both_are(old, new, Types::NUMBER) {
            return;
        }
        for leaves in [Leaves::Above, Leaves::Below] {
            let bounds = (bound(old, leaves), bound(new, leaves));
            let effect = match bounds {
                (Some(old), Some(new)) => tighter(old, new, leaves),
                (None, Some(_)) => Some(Effect::Narrowed),
                (Some(_), None) => Some(Effect::Widened),
                (None, None) => None,
            };
            if let Some(effect) = effect {
                let keyword = bounds.1.or(bounds.0).map_or("", |bound| bound.keyword);
                let values = bounds.0.map(|it| it.value);
                self.keyword(effect, at, keyword, (values, bounds.1.map(|it| it.value)));
            }
        }
        self.multiples(old.members(), new.members(), at);
    }

    fn multiples(&mut self, old: &'a JsonObject, new: &'a JsonObject, at: At<'_>) {
        let (old, new) = (old.get("multipleOf"), new.get("multipleOf"));
        let is_multiple = |one: &Value, of: &Value| match (one.as_i64(), of.as_i64()) {
            (Some(one), Some(of)) => one.checked_rem(of) == Some(0),
            _ => false,
        };
        let effect = match (old, new) {
            (old, new) if old == new => return,
            (None, _) => Effect::Narrowed,
            (_, None) => Effect::Widened,
            (Some(old), Some(new)) if is_multiple(new, old) => Effect::Narrowed,
            (Some(old), Some(new)) if is_multiple(old, new) => Effect::Widened,
            _ => Effect::Changed,
        };
        self.keyword(effect, at, "multipleOf", (old, new));
    }

    /// Compares a count, as of characters, items or members.
    pub(super) fn count(
        &mut self,
        schemas: (&'a JsonObject, &'a JsonObject),
        name: &str,
        leaves: Leaves,
        at: At<'_>,
    ) {
        // Nothing has fewer than none.
        let read = |schema: &'a JsonObject| {
            let count = schema.get(name).filter(|count| count.is_number());
            count.filter(|count| leaves == Leaves::Below || count.as_u64() != Some(0))
        };
        let (old, new) = (read(schemas.0), read(schemas.1));
        let exact = |value: &Value| value.as_number().map(Exact::of);
        let order = match (old.and_then(exact), new.and_then(exact)) {
            (Some(old), Some(new)) => new.cmp(old),
            (None, None) => Ordering::Equal,
            // Any bound is tighter than none.
            (None, Some(_)) if leaves == Leaves::Above => Ordering::Greater,
            (Some(_), None) if leaves == Leaves::Below => Ordering::Greater,
            _ => Ordering::Less,
        };
        let order = match leaves {
            Leaves::Above => order,
            Leaves::Below => order.reverse(),
        };
        let effect = match order {
            Ordering::Greater => Effect::Narrowed,
            Ordering::Less => Effect::Widened,
            Ordering::Equal => return,
        };
        self.keyword(effect, at, name, (old, new));
    }
}

/// Whether both allow values of some of these types.
pub(super) fn both_are(old: &Settled<'_>, new: &Settled<'_>, types: Types) -> bool {
    old.types().overlaps(types) && new.types().overlaps(types)
}

fn tighter(old: Bound<'_>, new: Bound<'_>, leaves: Leaves) -> Option<Effect> {
    let order = match leaves {
        Leaves::Above => new.number.cmp(old.number),
        Leaves::Below => old.number.cmp(new.number),
    };
    match order.then(new.excluded.cmp(&old.excluded)) {
        Ordering::Greater => Some(Effect::Narrowed),
        Ordering::Less => Some(Effect::Widened),
        Ordering::Equal => None,
    }
}

/// The bound that a schema sets; the tighter one of two.
fn bound<'a>(schema: &Settled<'a>, leaves: Leaves) -> Option<Bound<'a>> {
    let (keyword, exclusive) = match leaves {
        Leaves::Above => ("minimum", "exclusiveMinimum"),
        Leaves::Below => ("maximum", "exclusiveMaximum"),
    };
    let members = schema.members();
    let whole_only = !schema
        .types()
        .overlaps(Types::NUMBER.without(Types::INTEGER));
    let read = |keyword: &'static str, excluded: bool| {
        let value = members.get(keyword)?;
        let bound = Bound {
            keyword,
            value,
            number: Exact::of(value.as_number()?),
            excluded,
        };
        Some(if whole_only {
            included(bound, leaves)
        } else {
            bound
        })
    };
    // In draft 4, the one says of the other that it is excluded.
    let excluded = members.get(exclusive) == Some(&Value::Bool(true));
    match (read(keyword, excluded), read(exclusive, true)) {
        (Some(one), Some(other)) if tighter(one, other, leaves) == Some(Effect::Narrowed) => {
            Some(other)
        }
        (one, other) => one.or(other),
    }
}

/// Among integers, above 0 is the same as from 1 on.
fn included(bound: Bound<'_>, leaves: Leaves) -> Bound<'_> {
    match bound.number {
        Exact::Whole(whole) if bound.excluded => Bound {
            number: Exact::Whole(match leaves {
                Leaves::Above => whole + 1,
                Leaves::Below => whole - 1,
            }),
            excluded: false,
            ..bound
        },
        _ => bound,
    }
}
