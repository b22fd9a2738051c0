//! Order and distinction of alternatives.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use serde_json::Value;

use super::Matches;
use crate::client::schema::shape::{Alternative, Field, Kind, Members, Record, Shape, Tag};
use crate::client::schema::types::Types;

pub(super) fn keep_widest_number(kept: &mut Vec<Alternative>) {
    for (wide, narrow) in [
        (Shape::Number, [Shape::Integer, Shape::Unsigned]),
        (Shape::Integer, [Shape::Unsigned, Shape::Unsigned]),
    ] {
        if kept.iter().any(|one| one.shape == wide) {
            kept.retain(|one| !narrow.contains(&one.shape));
        }
    }
}

/// The rank of an alternative; narrow ones are tried first.
pub(super) fn rank(types: &Types, shape: &Shape) -> usize {
    match (types.kind(shape), shape) {
        (Some(Kind::Choice(_)), _) => 0,
        (_, Shape::Bool) => 1,
        (_, Shape::Integer | Shape::Unsigned | Shape::Number) => 2,
        (_, Shape::Text) => 3,
        (_, Shape::List(_) | Shape::Tuple(_)) => 4,
        _ => 5,
    }
}

/// Records in the order in which they are tried.
#[derive(Debug)]
pub(super) struct Ordered {
    pub records: Vec<Alternative>,
    /// The members that select each of them; empty if their types suffice.
    pub members: Vec<Members>,
}

impl Ordered {
    /// A single record.
    pub(super) fn only(name: &str, shape: Shape) -> Self {
        let name = name.to_owned();
        Self {
            records: vec![Alternative { name, shape }],
            members: Vec::new(),
        }
    }
}

/// Sorts records so that the first match is correct. Fails with the unsorted records if no such order exists.
pub(super) fn order(
    types: &Types,
    records: Vec<Alternative>,
    matches: Matches,
) -> Result<Ordered, Vec<Alternative>> {
    let known: Vec<&Record> = records
        .iter()
        .filter_map(|one| types.record(&one.shape))
        .collect();
    let mut order: Vec<usize> = (0..known.len()).collect();
    // Closed records are last, because only they exclude the members of the others.
    order.sort_by_key(|&index| {
        let record = known[index];
        (record.is_closed, Reverse(record.required().count()))
    });
    let sorted: Vec<&Record> = order.iter().map(|&index| known[index]).collect();
    let Some(members) = select(types, &sorted, matches) else {
        return Err(records);
    };
    let mut records: Vec<Option<Alternative>> = records.into_iter().map(Some).collect();
    let ordered = order.into_iter();
    Ok(Ordered {
        records: ordered.filter_map(|index| records[index].take()).collect(),
        members,
    })
}

/// Finds the members by which each record is distinguished from the earlier ones, or none if the types of members suffice.
/// Fails if some records are not distinct.
fn select(types: &Types, records: &[&Record], matches: Matches) -> Option<Vec<Members>> {
    let mut needs_members = false;
    let mut selected = Vec::new();
    for (position, record) in records.iter().enumerate() {
        let mut absent: Vec<String> = Vec::new();
        for earlier in &records[..position] {
            if are_exclusive(types, earlier, record) {
                continue;
            }
            needs_members = true;
            let lacking = |field: &&Field| record.field(&field.member).is_none();
            let first = earlier.required().find(lacking)?;
            if record.is_closed {
                let is_absent = |field: &Field| absent.contains(&field.member);
                if !earlier.required().any(is_absent) {
                    absent.push(first.member.clone());
                }
            } else if matches == Matches::Any || !accept_no_more(earlier, record) {
                return None;
            }
        }
        let present = record.required().map(|field| field.member.clone());
        selected.push(Members {
            present: present.collect(),
            absent,
        });
    }
    Some(if needs_members { selected } else { Vec::new() })
}

/// Returns `true` if both records accept only objects that match their schemas, so that an object that matches one of the two
/// schemas is accepted by only one of them.
fn accept_no_more(one: &Record, other: &Record) -> bool {
    one.is_exact && other.is_exact && other.rest.is_none()
}

/// Returns `true` if no value matches both.
fn are_exclusive(types: &Types, one: &Record, other: &Record) -> bool {
    one.required().any(|field| {
        let other = other.field(&field.member).filter(|other| other.required);
        other.is_some_and(|other| {
            let texts = |shape| types.kind(shape).and_then(Kind::texts);
            match (texts(&field.shape), texts(&other.shape)) {
                (Some(one), Some(other)) => one.is_disjoint(&other),
                _ => forms(types, &field.shape).is_disjoint(&forms(types, &other.shape)),
            }
        })
    })
}

/// Finds the member that distinguishes all records.
pub(super) fn tag(types: &Types, records: &[Alternative]) -> Option<Tag> {
    let records: Vec<&Record> = records
        .iter()
        .filter_map(|one| types.record(&one.shape))
        .collect();
    let first = records.first().filter(|_| records.len() > 1)?;
    first.required().find_map(|field| {
        let mut seen = BTreeSet::new();
        let values = records.iter().map(|record| {
            let field = record.field(&field.member).filter(|field| field.required)?;
            let texts = types.kind(&field.shape)?.texts()?;
            let are_new = texts.iter().all(|text| seen.insert((*text).to_owned()));
            are_new.then(|| texts.into_iter().map(str::to_owned).collect())
        });
        Some(Tag {
            member: field.member.clone(),
            values: values.collect::<Option<_>>()?,
        })
    })
}

/// Returns `true` if the JSON types of all alternatives differ, except for records and constants, which are already ordered.
pub(super) fn are_distinguishable(types: &Types, alternatives: &[Alternative]) -> bool {
    let mut seen = BTreeSet::new();
    let mut others = alternatives.iter().filter(|one| {
        let is_choice = matches!(types.kind(&one.shape), Some(Kind::Choice(_)));
        !is_choice && types.record(&one.shape).is_none()
    });
    let records = alternatives
        .iter()
        .any(|one| types.record(&one.shape).is_some());
    if records {
        seen.insert("object");
    }
    others.all(|one| {
        forms(types, &one.shape)
            .into_iter()
            .all(|form| seen.insert(form))
    })
}

/// The JSON types that a shape allows.
fn forms(types: &Types, shape: &Shape) -> BTreeSet<&'static str> {
    const ALL: [&str; 6] = ["null", "boolean", "number", "string", "array", "object"];
    match shape {
        Shape::Unit => [ALL[0]].into(),
        Shape::Bool => [ALL[1]].into(),
        Shape::Integer | Shape::Unsigned | Shape::Number => [ALL[2]].into(),
        Shape::Text => [ALL[3]].into(),
        Shape::List(_) | Shape::Tuple(_) => [ALL[4]].into(),
        Shape::Map(_) => [ALL[5]].into(),
        Shape::Nullable(inner) => {
            let mut forms = forms(types, inner);
            forms.insert(ALL[0]);
            forms
        }
        Shape::Named(id) => match &types.get(*id).kind {
            Kind::Record(_) | Kind::Merging => [ALL[5]].into(),
            Kind::Choice(literals) => literals
                .iter()
                .map(|literal| form(&literal.value))
                .collect(),
            // No recursion, because types can be recursive.
            _ => ALL.into(),
        },
        Shape::Any(_) => ALL.into(),
    }
}

fn form(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
