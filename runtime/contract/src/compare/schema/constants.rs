//! Alternatives that only list values. Together they are an enumeration, however many branches they are written as.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::Value;
use treenail_schema::JsonObject;

use crate::compare::schema::applicators::Branches;
use crate::compare::schema::normalize::{Node, Normalized, constraints};
use crate::compare::schema::path::Position;
use crate::compare::schema::types::{Types, listed_values};
use crate::compare::schema::walk::Walk;

/// Value of a branch `{"type": "null"}`.
static NULL: Value = Value::Null;

/// A choice whose branches only list values, without constraints beside it except `type`.
pub(super) struct ConstantChoice<'a> {
    keyword: &'static str,
    /// Each value with the index of its branch.
    pub(super) values: Vec<(&'a Value, usize)>,
}

impl<'a> ConstantChoice<'a> {
    /// Returns `None` if the schema is not such a choice, or if a value matches several branches of a `oneOf`.
    /// The cost of reading it is `choice_cost`.
    pub(super) fn of(schema: &'a JsonObject) -> Option<Self> {
        let mut others = constraints(schema).filter(|(name, _)| *name != "type");
        let (keyword, list) = match (others.next()?, others.next()) {
            (("anyOf", Value::Array(list)), None) => ("anyOf", list),
            (("oneOf", Value::Array(list)), None) => ("oneOf", list),
            _ => return None,
        };
        let mut values = Vec::new();
        for (index, branch) in list.iter().enumerate() {
            values.extend(constants(branch)?.into_iter().map(|value| (value, index)));
        }
        let mut seen = HashMap::new();
        let is_distinct = keyword == "anyOf"
            || values
                .iter()
                .all(|(value, index)| seen.insert(*value, *index).is_none_or(|it| it == *index));
        is_distinct.then_some(Self { keyword, values })
    }

    fn by_value(&self) -> BTreeMap<String, usize> {
        let values = self.values.iter();
        values
            .map(|(value, index)| (value.to_string(), *index))
            .collect()
    }
}

/// Returns `true` if the alternatives of a schema, if any, only list values. It can then be compared as an enumeration.
pub(super) fn has_only_constants(schema: &JsonObject) -> bool {
    let mut keywords = ["anyOf", "oneOf"].into_iter();
    !keywords.any(|keyword| schema.contains_key(keyword)) || ConstantChoice::of(schema).is_some()
}

/// Returns the values that a branch lists, if it has no other constraints than its type. Lists and objects are compared as branches.
fn constants(branch: &Value) -> Option<Vec<&Value>> {
    let branch = branch.as_object()?;
    let is_nullable = branch.get("nullable") == Some(&Value::Bool(true));
    if is_nullable || !only_lists_values(branch) {
        return None;
    }
    let types = Types::declared(branch);
    match listed_values(branch) {
        Some(values) => {
            let is_scalar = |it: &Value| !it.is_array() && !it.is_object();
            let possible = values.iter().filter(|it| types.contain(it));
            values.iter().all(is_scalar).then(|| possible.collect())
        }
        None => (types == Types::NULL).then(|| vec![&NULL]),
    }
}

fn only_lists_values(schema: &JsonObject) -> bool {
    constraints(schema).all(|(name, _)| matches!(name, "const" | "enum" | "type"))
}

/// Branches of a choice, each with its index.
pub(super) type Indexed<'a> = Vec<(usize, Node<'a>)>;

/// Branches that list values, and others.
struct Split<'a> {
    /// The listed values, each with the index of its branch.
    values: BTreeMap<String, usize>,
    others: Indexed<'a>,
}

impl<'a> Walk<'_, 'a, '_, '_> {
    /// Compares the values that the branches of two choices list, whichever branch lists a value. Returns the other branches
    /// with their indexes, or all of them if the comparison of whole branches is more exact.
    pub(super) fn compare_constant_branches(
        &mut self,
        old: &Branches<'a>,
        new: &Branches<'a>,
        at: Position<'_>,
    ) -> (Indexed<'a>, Indexed<'a>) {
        let (one, other) = (
            self.split(self.old, &old.nodes),
            self.split(self.new, &new.nodes),
        );
        let is_extended = one.others.len() <= other.others.len()
            && one.values.keys().all(|it| other.values.contains_key(it));
        if one.values.is_empty() || !is_extended {
            return (indexed(&old.nodes), indexed(&new.nodes));
        }
        let values = |split: &Split<'_>| split.values.keys().cloned().collect();
        self.compare_values(&values(&one), &values(&other), at);
        self.compare_texts_by_value((old, &one.values), (new, &other.values), at);
        (one.others, other.others)
    }

    fn split(&mut self, root: &'a JsonObject, nodes: &[Node<'a>]) -> Split<'a> {
        let (mut values, mut others) = (BTreeMap::new(), Vec::new());
        self.take_steps(nodes.len() / 8);
        for (index, node) in indexed(nodes) {
            if self.should_stop() {
                break;
            }
            let schema = self.normalized(root, node);
            let is_list = only_lists_values(schema.members())
                || ConstantChoice::of(schema.members()).is_some();
            match self.allowed_values(&schema).filter(|_| is_list) {
                Some(listed) => values.extend(listed.into_iter().map(|value| (value, index))),
                None => others.push((index, node)),
            }
        }
        Split { values, others }
    }

    /// Compares the texts of the branches of two choices of constants.
    pub(super) fn compare_constant_texts(
        &mut self,
        old: &Normalized<'a>,
        new: &Normalized<'a>,
        at: Position<'_>,
    ) {
        let choice = |schema: &Normalized<'a>| {
            let choice = ConstantChoice::of(schema.members())?;
            let branches = Branches::of(schema.members(), choice.keyword);
            Some((branches, choice.by_value()))
        };
        if let (Some(old), Some(new)) = (choice(old), choice(new)) {
            self.compare_texts_by_value((&old.0, &old.1), (&new.0, &new.1), at);
        }
    }

    /// Compares the texts of the branches that list the same value.
    fn compare_texts_by_value(
        &mut self,
        (old, old_values): (&Branches<'a>, &BTreeMap<String, usize>),
        (new, new_values): (&Branches<'a>, &BTreeMap<String, usize>),
        at: Position<'_>,
    ) {
        if self.is_probing() {
            return;
        }
        let path = new.keyword.map(|keyword| at.path.key(keyword));
        let pairs = new_values
            .iter()
            .filter_map(|(value, new)| Some((*old_values.get(value)?, *new)));
        for (before, after) in pairs.collect::<BTreeSet<_>>() {
            let branches = self.normalized_pair(old.nodes[before], new.nodes[after]);
            let Some((old, new)) = branches else {
                return;
            };
            let inner = path.as_ref().map(|path| path.index(after));
            self.compare_texts(&old, &new, at.descend(inner.unwrap_or(at.path)));
        }
    }
}

pub(super) fn indexed<'a>(nodes: &[Node<'a>]) -> Indexed<'a> {
    nodes.iter().copied().enumerate().collect()
}
