//! Objects and lists.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::bounds::{conditions, description};
use super::conditional::conditions_add_members;
use super::exact::is_expressible;
use super::reader::{Place, Reader};
use super::shape::{Field, Kind, Record, Shape};

/// Maximum number of fields of a struct.
pub(in crate::client) const MAX_FIELDS: usize = 200;
/// Maximum number of items of a tuple; larger tuples do not implement `Debug`.
const MAX_TUPLE_ITEMS: usize = 12;
/// Maximum number of types in a tuple, including nested tuples, since each use of the tuple repeats them.
const MAX_TUPLE_TYPES: usize = 50;

impl Reader<'_> {
    pub(super) fn record(&mut self, schema: &Map<String, Value>, place: &Place) -> Shape {
        let no_members = Map::new();
        let members = schema
            .get("properties")
            .and_then(Value::as_object)
            .unwrap_or(&no_members);
        let required = required_names(schema);
        let rest = self.rest(schema, place);
        let undescribed = required.iter();
        let undescribed = undescribed.filter(|name| !members.contains_key(**name));
        let undescribed = undescribed.count();
        if members.len() + undescribed > MAX_FIELDS {
            return Shape::Map(Box::new(Shape::any(format!(
                "there are more than {MAX_FIELDS} members"
            ))));
        }
        let is_closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
        if members.is_empty() && required.is_empty() && !(is_closed && rest.is_none()) {
            return Shape::Map(Box::new(rest.unwrap_or(Shape::Any(None))));
        }
        // Reading a member charges it again, but members that are only listed in `required` are not read.
        if let Err(reason) = self.budget.charge_parts(1 + undescribed) {
            return Shape::Map(Box::new(Shape::any(reason)));
        }
        let id = self.start_type(place);
        let (mut fields, are_exact) = self.fields(members, &required, place);
        // The type of a closed object accepts members that the schema does not list.
        let is_exact = are_exact
            && !is_closed
            && is_expressible(schema)
            && rest.as_ref().is_none_or(|rest| *rest == Shape::Any(None));
        add_undescribed(&mut fields, &required, rest.as_ref());
        self.finish_type(
            id,
            description(schema),
            Kind::Record(Record {
                is_closed: is_closed && rest.is_none(),
                is_exact,
                fields,
                rest,
                note: conditions(schema),
            }),
        )
    }

    /// Reads the members, and returns `true` if their types accept no other values than their schemas.
    fn fields(
        &mut self,
        members: &Map<String, Value>,
        required: &[&str],
        place: &Place,
    ) -> (Vec<Field>, bool) {
        let (mut fields, mut are_exact) = (Vec::new(), true);
        for (member, schema) in members {
            if *schema == Value::Bool(false) {
                are_exact = false;
                continue;
            }
            let shape = self.read(schema, &place.part(member));
            let is_required = required.contains(&&**member);
            // An optional member also accepts null.
            let accepts_null = matches!(shape, Shape::Nullable(_) | Shape::Unit | Shape::Any(None));
            are_exact &= self.is_exact(schema, &shape) && (is_required || accepts_null);
            let docs = self.member_docs(schema, &shape);
            let has_default = schema.get("default").is_some();
            let keeps_null = self.keeps_null && !is_required && !has_default;
            fields.push(Field {
                member: member.clone(),
                keeps_null: keeps_null && matches!(shape, Shape::Nullable(_)),
                shape,
                required: is_required,
                description: docs.description,
                notes: docs.notes,
            });
        }
        (fields, are_exact)
    }

    /// The shape of additional members, if the schema allows or describes them.
    fn rest(&mut self, schema: &Map<String, Value>, place: &Place) -> Option<Shape> {
        let patterns = schema.get("patternProperties").and_then(Value::as_object);
        let additional = schema.get("additionalProperties");
        if additional.is_none() && conditions_add_members(schema) {
            let reason = "conditions of the schema describe further members";
            return Some(Shape::any(reason));
        }
        // No other keyword evaluates members, so both keywords mean the same.
        let additional = additional.or_else(|| schema.get("unevaluatedProperties"));
        let is_closed = additional == Some(&Value::Bool(false));
        let additional = additional.filter(|_| !is_closed);
        match (patterns.filter(|patterns| !patterns.is_empty()), additional) {
            (None, None) => None,
            (None, Some(schema)) => Some(self.read(schema, &place.item("Value"))),
            // Members that match no pattern can have any value, unless the schema forbids them.
            (Some(patterns), None) if patterns.len() == 1 && is_closed => {
                let schema = patterns.values().next()?;
                Some(self.read(schema, &place.item("Value")))
            }
            (Some(_), _) => Some(Shape::any("its schema depends on the name of the member")),
        }
    }

    pub(super) fn list(&mut self, schema: &Map<String, Value>, place: &Place) -> Shape {
        let items = schema.get("items");
        let first = schema
            .get("prefixItems")
            .or_else(|| items.filter(|items| items.is_array()));
        let Some(first) = first
            .and_then(Value::as_array)
            .filter(|first| !first.is_empty())
        else {
            let item = match items {
                None | Some(Value::Array(_) | Value::Bool(false)) => Shape::Any(None),
                Some(items) => self.read(items, &place.item("Item")),
            };
            return Shape::List(Box::new(item));
        };
        let after = if items.is_some_and(|items| !items.is_array()) {
            items
        } else {
            schema.get("additionalItems")
        };
        let bound = |key: &str| {
            schema
                .get(key)
                .and_then(Value::as_u64)
                .and_then(|bound| usize::try_from(bound).ok())
        };
        let is_full = bound("minItems").is_some_and(|least| least >= first.len());
        let is_closed = after == Some(&Value::Bool(false))
            || bound("maxItems").is_some_and(|most| most <= first.len());
        if !is_full || !is_closed || first.len() > MAX_TUPLE_ITEMS {
            return Shape::List(Box::new(Shape::any(
                "the schema of an item depends on its position",
            )));
        }
        let items = first
            .iter()
            .enumerate()
            .map(|(index, schema)| self.read(schema, &place.part(&format!("item{}", index + 1))));
        let items: Vec<Shape> = items.collect();
        if items.iter().map(Shape::size).sum::<usize>() > MAX_TUPLE_TYPES {
            return Shape::List(Box::new(Shape::any(format!(
                "a tuple is made of more than {MAX_TUPLE_TYPES} types"
            ))));
        }
        Shape::Tuple(items)
    }
}

/// Returns the distinct names in `required`.
fn required_names(schema: &Map<String, Value>) -> Vec<&str> {
    let names = schema.get("required").and_then(Value::as_array);
    let mut seen = HashSet::new();
    let names = names.into_iter().flatten().filter_map(Value::as_str);
    names.filter(|name| seen.insert(*name)).collect()
}

/// Adds the required members that `properties` does not describe, with the shape of additional members.
fn add_undescribed(fields: &mut Vec<Field>, required: &[&str], rest: Option<&Shape>) {
    for &member in required {
        if !fields.iter().any(|field| field.member == member) {
            fields.push(Field {
                member: member.to_owned(),
                shape: rest.cloned().unwrap_or(Shape::Any(None)),
                required: true,
                keeps_null: false,
                description: None,
                notes: Vec::new(),
            });
        }
    }
}
