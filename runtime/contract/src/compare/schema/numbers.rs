//! Comparison of bounds of numbers, lengths and counts.

use std::cmp::Ordering;

use serde_json::{Number, Value};
use treenail_schema::JsonObject;

use crate::compare::schema::Effect;
use crate::compare::schema::normalize::Normalized;
use crate::compare::schema::path::Position;
use crate::compare::schema::types::Types;
use crate::compare::schema::walk::Walk;

/// Kind of a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BoundKind {
    /// A minimum.
    Lower,
    /// A maximum.
    Upper,
}

/// A bound of a number.
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
            // JSON has no NaN.
            (one, other) => one
                .float()
                .partial_cmp(&other.float())
                .unwrap_or(Ordering::Equal),
        }
    }

    #[allow(
        clippy::cast_precision_loss,
        reason = "only compared with fractions, which are floats too"
    )]
    fn float(self) -> f64 {
        match self {
            Self::Whole(whole) => whole as f64,
            Self::Fraction(fraction) => fraction,
        }
    }
}

impl<'a> Walk<'_, 'a, '_, '_> {
    pub(super) fn compare_numbers(
        &mut self,
        old: &Normalized<'a>,
        new: &Normalized<'a>,
        at: Position<'_>,
    ) {
        if !both_allow(old, new, Types::NUMBER) {
            return;
        }
        for kind in [BoundKind::Lower, BoundKind::Upper] {
            let bounds = (bound(old, kind), bound(new, kind));
            let effect = match bounds {
                (Some(old), Some(new)) => bound_effect(old, new, kind),
                (None, Some(_)) => Some(Effect::Narrowed),
                (Some(_), None) => Some(Effect::Widened),
                (None, None) => None,
            };
            if let Some(effect) = effect {
                let keyword = bounds.1.or(bounds.0).map_or("", |bound| bound.keyword);
                let values = bounds.0.map(|it| it.value);
                self.report_keyword(effect, at, keyword, (values, bounds.1.map(|it| it.value)));
            }
        }
        self.compare_multiples(old.members(), new.members(), at);
    }

    fn compare_multiples(&mut self, old: &'a JsonObject, new: &'a JsonObject, at: Position<'_>) {
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
        self.report_keyword(effect, at, "multipleOf", (old, new));
    }

    /// Compares the bounds of a count of characters, items or members.
    pub(super) fn compare_count(
        &mut self,
        schemas: (&'a JsonObject, &'a JsonObject),
        name: &str,
        kind: BoundKind,
        at: Position<'_>,
    ) {
        // A minimum of 0 has no effect.
        let read = |schema: &'a JsonObject| {
            let count = schema.get(name).filter(|count| count.is_number());
            count.filter(|count| kind == BoundKind::Upper || count.as_u64() != Some(0))
        };
        let (old, new) = (read(schemas.0), read(schemas.1));
        let exact = |value: &Value| value.as_number().map(Exact::of);
        let order = match (old.and_then(exact), new.and_then(exact)) {
            (Some(old), Some(new)) => new.cmp(old),
            (None, None) => Ordering::Equal,
            // A bound is tighter than no bound.
            (None, Some(_)) if kind == BoundKind::Lower => Ordering::Greater,
            (Some(_), None) if kind == BoundKind::Upper => Ordering::Greater,
            _ => Ordering::Less,
        };
        let order = match kind {
            BoundKind::Lower => order,
            BoundKind::Upper => order.reverse(),
        };
        let effect = match order {
            Ordering::Greater => Effect::Narrowed,
            Ordering::Less => Effect::Widened,
            Ordering::Equal => return,
        };
        self.report_keyword(effect, at, name, (old, new));
    }
}

/// Returns `true` if both schemas allow values of these types.
pub(super) fn both_allow(old: &Normalized<'_>, new: &Normalized<'_>, types: Types) -> bool {
    old.types().overlaps(types) && new.types().overlaps(types)
}

/// Compares two bounds. Returns `None` if they are equal.
fn bound_effect(old: Bound<'_>, new: Bound<'_>, kind: BoundKind) -> Option<Effect> {
    let order = match kind {
        BoundKind::Lower => new.number.cmp(old.number),
        BoundKind::Upper => old.number.cmp(new.number),
    };
    match order.then(new.excluded.cmp(&old.excluded)) {
        Ordering::Greater => Some(Effect::Narrowed),
        Ordering::Less => Some(Effect::Widened),
        Ordering::Equal => None,
    }
}

/// Returns the bound of a schema, or the tighter one of two.
fn bound<'a>(schema: &Normalized<'a>, kind: BoundKind) -> Option<Bound<'a>> {
    let (keyword, exclusive) = match kind {
        BoundKind::Lower => ("minimum", "exclusiveMinimum"),
        BoundKind::Upper => ("maximum", "exclusiveMaximum"),
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
            to_inclusive(bound, kind)
        } else {
            bound
        })
    };
    // In draft 4, `exclusiveMinimum` and `exclusiveMaximum` are booleans.
    let excluded = members.get(exclusive) == Some(&Value::Bool(true));
    match (read(keyword, excluded), read(exclusive, true)) {
        (Some(one), Some(other)) if bound_effect(one, other, kind) == Some(Effect::Narrowed) => {
            Some(other)
        }
        (one, other) => one.or(other),
    }
}

/// Converts an exclusive bound of integers to an inclusive one: above 0 is at least 1.
fn to_inclusive(bound: Bound<'_>, kind: BoundKind) -> Bound<'_> {
    match bound.number {
        Exact::Whole(whole) if bound.excluded => Bound {
            number: Exact::Whole(match kind {
                BoundKind::Lower => whole + 1,
                BoundKind::Upper => whole - 1,
            }),
            excluded: false,
            ..bound
        },
        _ => bound,
    }
}
