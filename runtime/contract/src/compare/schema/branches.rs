//! Which of several schemas belong together, and whether they exclude each other.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::Value;
use treenail_schema::JsonObject;

use crate::compare::schema::side::{Node, Settled, settle};
use crate::compare::schema::types::{Types, values};
use crate::compare::schema::walk::{At, Walk};
use crate::compare::schema::words::members;

/// A member with more values than this is no tag: it would have to be looked for the only one that is possible.
const ONE_STEP: usize = 16;

impl<'a> Walk<'_, 'a, '_, '_> {
    /// Compares the branches that belong together with `compare`; what is left of the old ones, and whether
    /// something is of the new ones.
    pub(super) fn matched(
        &mut self,
        old: &[Node<'a>],
        new: &[Node<'a>],
        at: At<'_>,
        mut compare: impl FnMut(&mut Self, Node<'a>, (usize, Node<'a>)),
    ) -> (Vec<Node<'a>>, bool) {
        let mut left: BTreeMap<usize, Node<'a>> = new.iter().copied().enumerate().collect();
        let mut gone = Vec::new();
        for (place, node) in old.iter().enumerate() {
            if self.is_over() {
                return (old.to_vec(), true);
            }
            // Most stand where they stood.
            let here = left.get_key_value(&place);
            let others = left.iter().filter(|(other, _)| **other != place);
            let mut candidates = here.into_iter().chain(others);
            let same = candidates
                .find(|(_, other)| !self.is_over() && self.is_same(*node, **other, at.to(at.path)));
            match same.map(|(place, other)| (*place, *other)) {
                Some(same) => {
                    left.remove(&same.0);
                    compare(self, *node, same);
                }
                None => gone.push(*node),
            }
        }
        let left = left.into_iter().collect();
        let (unknown, left) = self.identified(gone, left, &mut compare);
        if let ([node], [other]) = (&*unknown, &*left) {
            compare(self, *node, *other);
            return (Vec::new(), false);
        }
        (unknown, !left.is_empty())
    }

    /// Compares the branches that are known by the same with `compare`; those that are left of the old and of the new ones.
    fn identified(
        &mut self,
        old: Vec<Node<'a>>,
        new: Vec<(usize, Node<'a>)>,
        compare: &mut impl FnMut(&mut Self, Node<'a>, (usize, Node<'a>)),
    ) -> (Vec<Node<'a>>, Vec<(usize, Node<'a>)>) {
        if old.is_empty() || new.is_empty() {
            return (old, new);
        }
        // By what they are known by, in their order. What is not known by anything has no name.
        let mut named: BTreeMap<String, VecDeque<(usize, Node<'a>)>> = BTreeMap::new();
        let mut left = Vec::new();
        for branch in new {
            match self.identity(self.new, branch.1) {
                Some(name) => named.entry(name).or_default().push_back(branch),
                None => left.push(branch),
            }
        }
        let mut unknown = Vec::new();
        for node in old {
            let name = self.identity(self.old, node);
            let same = name.and_then(|name| named.get_mut(&name)?.pop_front());
            match same {
                Some(same) if !self.is_over() => compare(self, node, same),
                _ => unknown.push(node),
            }
        }
        left.extend(named.into_values().flatten());
        (unknown, left)
    }

    /// Whether no value can be of two of these schemas: they are of different types, or objects with different tags.
    pub(super) fn are_disjoint(&mut self, root: &'a JsonObject, nodes: &[Node<'a>]) -> bool {
        let (mut types, mut objects) = (Types::NONE, Vec::new());
        for node in nodes {
            self.step(1);
            let settled = settle(root, *node);
            let own = settled.types();
            if own == Types::OBJECT {
                objects.push(settled);
            } else if own.overlaps(types) {
                return false;
            } else {
                types = types.with(own);
            }
        }
        (objects.is_empty() || !types.overlaps(Types::OBJECT)) && self.have_tags(root, &objects)
    }

    /// Whether all of these have one member with a value of its own in each.
    fn have_tags(&mut self, root: &'a JsonObject, objects: &[Settled<'a>]) -> bool {
        if objects.len() < 2 {
            return true;
        }
        // The values of each member that is a tag so far: all of them are different.
        let mut values: Option<BTreeMap<&str, BTreeSet<String>>> = None;
        for object in objects {
            self.step_tags(object);
            if self.is_over() {
                return false;
            }
            let own = tags(root, object.members());
            match &mut values {
                None => values = Some(own.map(|(name, value)| (name, [value].into())).collect()),
                Some(values) => {
                    let mut own: BTreeMap<_, _> = own.collect();
                    let is_new = |name: &&str, values: &mut BTreeSet<_>| {
                        own.remove(*name).is_some_and(|value| values.insert(value))
                    };
                    values.retain(is_new);
                }
            }
        }
        values.is_none_or(|values| !values.is_empty())
    }

    /// Takes the steps for a look at all that could be a tag.
    fn step_tags(&mut self, schema: &Settled<'a>) {
        let required = schema.members().get("required");
        self.step(1 + required.and_then(Value::as_array).map_or(0, Vec::len));
    }

    /// What a branch is known by: what it refers to, or the one value that a member has in it.
    fn identity(&mut self, root: &'a JsonObject, node: Node<'a>) -> Option<String> {
        let settled = settle(root, node);
        self.step_tags(&settled);
        if self.is_over() {
            return None;
        }
        if let Some((name, value)) = tags(root, settled.members()).next() {
            return Some(format!("{name}={value}"));
        }
        settled.from_root.then_some(settled.trail)
    }
}

/// The members that have to be there, and can have one value only.
fn tags<'a>(
    root: &'a JsonObject,
    schema: &'a JsonObject,
) -> impl Iterator<Item = (&'a str, String)> {
    let required = schema.get("required").and_then(Value::as_array);
    let required = required.into_iter().flatten().filter_map(Value::as_str);
    let required: BTreeSet<&str> = required.collect();
    let properties = members(schema.get("properties"));
    required.into_iter().filter_map(move |name| {
        let property = settle(root, Node::of(properties?.get(name)?));
        let listed = property.members().get("enum").and_then(Value::as_array);
        if listed.is_some_and(|values| values.len() > ONE_STEP) {
            return None;
        }
        let mut values = values(&property)?.into_iter();
        let only = values.next()?;
        values.next().is_none().then_some((name, only))
    })
}
