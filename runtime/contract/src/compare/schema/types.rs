//! Comparison of types and enumerated values.

use std::collections::BTreeSet;

use serde_json::Value;
use treenail_schema::JsonObject;

use crate::compare::schema::Effect;
use crate::compare::schema::constants::{ConstantChoice, has_only_constants};
use crate::compare::schema::normalize::{Normalized, choice_cost};
use crate::compare::schema::path::Position;
use crate::compare::schema::walk::Walk;

/// A set of types. `NUMBER` contains integers and fractions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Types(u8);

impl Types {
    pub(super) const NONE: Self = Self(0);
    pub(super) const NULL: Self = Self(1);
    pub(super) const BOOLEAN: Self = Self(1 << 1);
    pub(super) const OBJECT: Self = Self(1 << 2);
    pub(super) const ARRAY: Self = Self(1 << 3);
    pub(super) const STRING: Self = Self(1 << 4);
    pub(super) const INTEGER: Self = Self(1 << 5);
    pub(super) const NUMBER: Self = Self(0b11 << 5);
    const ALL: Self = Self(0b111_1111);

    /// Returns the types that a schema allows, considering its enumerated values.
    pub(super) fn of(schema: &JsonObject) -> Self {
        let types = Self::declared(schema);
        match enumerated(schema) {
            Some(values) => values.into_iter().fold(Self::NONE, |all, value| {
                all.with(Self::of_value(value).only(types))
            }),
            None => types,
        }
    }

    pub(super) fn declared(schema: &JsonObject) -> Self {
        match schema.get("type") {
            Some(Value::String(name)) => Self::named(name),
            Some(Value::Array(names)) => {
                let names = names.iter().filter_map(Value::as_str);
                names.fold(Self::NONE, |all, name| all.with(Self::named(name)))
            }
            _ => Self::ALL,
        }
    }

    fn named(name: &str) -> Self {
        match name {
            "null" => Self::NULL,
            "boolean" => Self::BOOLEAN,
            "object" => Self::OBJECT,
            "array" => Self::ARRAY,
            "string" => Self::STRING,
            "integer" => Self::INTEGER,
            "number" => Self::NUMBER,
            // Early drafts define `any`.
            _ => Self::ALL,
        }
    }

    fn of_value(value: &Value) -> Self {
        match value {
            Value::Null => Self::NULL,
            Value::Bool(_) => Self::BOOLEAN,
            Value::Object(_) => Self::OBJECT,
            Value::Array(_) => Self::ARRAY,
            Value::String(_) => Self::STRING,
            Value::Number(number) if number.is_f64() => Self(Self::NUMBER.0 & !Self::INTEGER.0),
            Value::Number(_) => Self::INTEGER,
        }
    }

    /// Returns `true` if the type of a value is one of these.
    pub(super) fn contain(self, value: &Value) -> bool {
        Self::of_value(value).overlaps(self)
    }

    pub(super) fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    fn only(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(super) fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub(super) fn overlaps(self, other: Self) -> bool {
        self.only(other) != Self::NONE
    }

    /// Returns the number of values of these types, if finite.
    fn count(self) -> Option<usize> {
        if self.overlaps(Self::ALL.without(Self::NULL.with(Self::BOOLEAN))) {
            return None;
        }
        let (null, boolean) = (self.overlaps(Self::NULL), self.overlaps(Self::BOOLEAN));
        Some(usize::from(null) + 2 * usize::from(boolean))
    }

    fn names(self) -> String {
        const NAMES: [(Types, &str); 7] = [
            (Types::STRING, "string"),
            (Types::NUMBER, "number"),
            (Types::INTEGER, "integer"),
            (Types::BOOLEAN, "boolean"),
            (Types::OBJECT, "object"),
            (Types::ARRAY, "array"),
            (Types::NULL, "null"),
        ];

        if self == Self::ALL {
            return "any".to_owned();
        }
        let (mut left, mut names) = (self, Vec::new());
        for (types, name) in NAMES {
            if left.only(types) == types {
                left = left.without(types);
                names.push(name);
            }
        }
        if left != Self::NONE {
            names.push("fraction");
        }
        names.join(" or ")
    }
}

/// Returns the values of `const`, of `enum`, or of a choice of constants.
fn enumerated(schema: &JsonObject) -> Option<Vec<&Value>> {
    if let Some(values) = listed_values(schema) {
        return Some(values.iter().collect());
    }
    let values = ConstantChoice::of(schema)?.values.into_iter();
    Some(values.map(|(value, _)| value).collect())
}

/// Returns the values of `const` or `enum`.
pub(super) fn listed_values(schema: &JsonObject) -> Option<&[Value]> {
    match (schema.get("const"), schema.get("enum")) {
        (Some(only), _) => Some(std::slice::from_ref(only)),
        (None, Some(Value::Array(values))) => Some(values),
        _ => None,
    }
}

fn allowed_values(schema: &Normalized<'_>) -> Option<BTreeSet<String>> {
    let declared = Types::declared(schema.members());
    let values = enumerated(schema.members())?.into_iter();
    let possible = values.filter(|value| declared.contain(value));
    let mut values: BTreeSet<String> = possible.map(Value::to_string).collect();
    if schema.allows_null() {
        values.insert("null".to_owned());
    }
    let is_all = schema.types().count() == Some(values.len());
    (!is_all).then_some(values)
}

impl<'a> Walk<'_, 'a, '_, '_> {
    /// Returns the enumerated values as JSON, and takes steps for reading them; `None` if the schema allows all values of its types.
    pub(super) fn allowed_values(&mut self, schema: &Normalized<'_>) -> Option<BTreeSet<String>> {
        self.take_steps(choice_cost(schema.members()) / 8);
        let values = allowed_values(schema)?;
        self.take_steps(values.iter().map(|value| 4 + value.len()).sum::<usize>() / 64);
        Some(values)
    }

    /// Compares types and enumerated values. Returns `false` if the types do not overlap.
    pub(super) fn compare_types(
        &mut self,
        old: &Normalized<'a>,
        new: &Normalized<'a>,
        at: Position<'_>,
    ) -> bool {
        // If one has other alternatives too, those of both are compared as branches.
        let are_constants = has_only_constants(old.members()) && has_only_constants(new.members());
        let mut values = |schema: &Normalized<'a>| {
            let is_list = are_constants || listed_values(schema.members()).is_some();
            is_list.then(|| self.allowed_values(schema)).flatten()
        };
        let (old_values, new_values) = (values(old), values(new));
        let (old_types, new_types) = (old.types(), new.types());
        if let (Some(old), Some(new)) = (&old_values, &new_values) {
            self.compare_values(old, new, at);
            return old_types.overlaps(new_types);
        }
        let removed = old_types.without(new_types) != Types::NONE;
        let added = new_types.without(old_types) != Types::NONE;
        let effect = match (removed, added) {
            (true, true) => Some((Effect::Changed, "the type is different")),
            (true, false) => Some((Effect::Narrowed, "the type is narrower")),
            (false, true) => Some((Effect::Widened, "the type is wider")),
            (false, false) => None,
        };
        if let Some((effect, message)) = effect {
            let texts = (old_types.names(), new_types.names());
            let at = at.descend(at.path.key("type"));
            self.report_difference(effect, at, message, (Some(&texts.0), Some(&texts.1)));
        }
        if !old_types.overlaps(new_types) {
            return false;
        }
        let at = at.descend(at.path.key("enum"));
        match (&old_values, &new_values) {
            (Some(old), None) => {
                let message = "values outside the enumeration are now allowed";
                let old = join_values(old.iter());
                self.report_difference(Effect::Widened, at, message, (Some(&old), None));
            }
            (None, Some(new)) => {
                let message = "only enumerated values are now allowed";
                let new = join_values(new.iter());
                self.report_difference(Effect::Narrowed, at, message, (None, Some(&new)));
            }
            _ => {}
        }
        true
    }

    pub(super) fn compare_values(
        &mut self,
        old: &BTreeSet<String>,
        new: &BTreeSet<String>,
        at: Position<'_>,
    ) {
        let at = at.descend(at.path.key("enum"));
        if old.difference(new).next().is_some() {
            let removed = join_values(old.difference(new));
            let message = "values are no longer allowed";
            self.report_difference(Effect::Narrowed, at, message, (Some(&removed), None));
        }
        if new.difference(old).next().is_some() {
            let added = join_values(new.difference(old));
            let message = "more values are now allowed";
            self.report_difference(Effect::Widened, at, message, (None, Some(&added)));
        }
    }
}

/// Joins some values for display. A longer list would be truncated anyway.
fn join_values<'v>(values: impl Iterator<Item = &'v String>) -> String {
    const MAX_LISTED_VALUES: usize = 200;

    let values: Vec<_> = values.take(MAX_LISTED_VALUES).map(String::as_str).collect();
    values.join(", ")
}
