//! Matching of branches, and tests whether branches exclude each other.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::Value;
use treenail_schema::JsonObject;

use crate::compare::schema::constants::Indexed;
use crate::compare::schema::normalize::{Node, Normalized};
use crate::compare::schema::object_members::Members;
use crate::compare::schema::path::Position;
use crate::compare::schema::text::members;
use crate::compare::schema::types::Types;
use crate::compare::schema::walk::Walk;

/// Maximum number of listed values of a tag. Bounds the search for the only possible value.
const MAX_TAG_VALUES: usize = 16;

impl<'a> Walk<'_, 'a, '_, '_> {
    /// Matches old branches with new ones, each with its index, and passes each pair to `compare`. Returns the unmatched old branches, and whether
    /// there are unmatched new ones.
    pub(super) fn match_branches(
        &mut self,
        old: &[(usize, Node<'a>)],
        new: Indexed<'a>,
        at: Position<'_>,
        mut compare: impl FnMut(&mut Self, Node<'a>, (usize, Node<'a>)),
    ) -> (Vec<Node<'a>>, bool) {
        let mut left: BTreeMap<usize, Node<'a>> = new.into_iter().collect();
        let mut removed = Vec::new();
        for (index, node) in old {
            if self.should_stop() {
                return (old.iter().map(|(_, node)| *node).collect(), true);
            }
            // Most branches have the same index as before.
            let here = left.get_key_value(index);
            let others = left.iter().filter(|(other, _)| *other != index);
            let mut candidates = here.into_iter().chain(others);
            let same = candidates.find(|(_, other)| {
                !self.should_stop() && self.are_equivalent(*node, **other, at.descend(at.path))
            });
            match same.map(|(index, other)| (*index, *other)) {
                Some(same) => {
                    left.remove(&same.0);
                    compare(self, *node, same);
                }
                None => removed.push(*node),
            }
        }
        let left = left.into_iter().collect();
        let (unknown, left) = self.match_by_identity(removed, left, &mut compare);
        if let ([node], [other]) = (&*unknown, &*left) {
            compare(self, *node, *other);
            return (Vec::new(), false);
        }
        (unknown, !left.is_empty())
    }

    /// Matches branches with the same identity, and passes each pair to `compare`. Returns the unmatched old and new ones.
    fn match_by_identity(
        &mut self,
        old: Vec<Node<'a>>,
        new: Vec<(usize, Node<'a>)>,
        compare: &mut impl FnMut(&mut Self, Node<'a>, (usize, Node<'a>)),
    ) -> (Vec<Node<'a>>, Vec<(usize, Node<'a>)>) {
        if old.is_empty() || new.is_empty() {
            return (old, new);
        }
        // New branches by identity, in their order.
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
                Some(same) if !self.should_stop() => compare(self, node, same),
                _ => unknown.push(node),
            }
        }
        left.extend(named.into_values().flatten());
        (unknown, left)
    }

    /// Returns `true` if no value matches two of the schemas: they have different types, list different values, or are objects
    /// that exclude each other.
    pub(super) fn are_disjoint(&mut self, root: &'a JsonObject, nodes: &[Node<'a>]) -> bool {
        let (mut types, mut objects) = (Types::NONE, Vec::new());
        let (mut types_of_values, mut values) = (Types::NONE, BTreeSet::new());
        for node in nodes {
            self.take_steps(1);
            let schema = self.normalized(root, *node);
            if self.should_stop() {
                return false;
            }
            let own = schema.types();
            if let Some(listed) = self.allowed_values(&schema) {
                types_of_values = types_of_values.with(own);
                if !listed.into_iter().all(|value| values.insert(value)) {
                    return false;
                }
            } else if own == Types::OBJECT {
                objects.push(schema);
            } else if own.overlaps(types) {
                return false;
            } else {
                types = types.with(own);
            }
        }
        if !objects.is_empty() {
            if types.overlaps(Types::OBJECT) {
                return false;
            }
            types = types.with(Types::OBJECT);
        }
        !types.overlaps(types_of_values)
            && (self.have_tags(root, &objects) || self.have_own_members(root, &objects))
    }

    /// Returns `true` if the schemas share a member with a different value in each.
    fn have_tags(&mut self, root: &'a JsonObject, objects: &[Normalized<'a>]) -> bool {
        if objects.len() < 2 {
            return true;
        }
        // Values of each member that is a tag in all schemas so far. They differ from each other.
        let mut values: Option<BTreeMap<&str, BTreeSet<String>>> = None;
        for object in objects {
            self.take_tag_steps(object);
            if self.should_stop() {
                return false;
            }
            let own = self.tags(root, object.members()).into_iter();
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

    /// Returns `true` if the schemas are closed, and all but one require a member that no other declares.
    fn have_own_members(&mut self, root: &'a JsonObject, objects: &[Normalized<'a>]) -> bool {
        let objects = objects.iter().map(Normalized::members);
        let objects: Vec<_> = objects.map(|schema| Members::of(root, schema)).collect();
        self.take_steps(objects.iter().map(Members::count).sum::<usize>() / 8);
        if self.should_stop() || !objects.iter().all(Members::allows_only_declared) {
            return false;
        }
        let mut declared: BTreeMap<&str, usize> = BTreeMap::new();
        for name in objects.iter().flat_map(Members::declared) {
            *declared.entry(name).or_default() += 1;
        }
        let has_own = |object: &&Members<'_>| {
            let mut own = object.declared().filter(|name| declared[name] == 1);
            own.any(|name| object.required.contains(name))
        };
        objects.iter().filter(has_own).count() + 1 >= objects.len()
    }

    /// Takes the steps for a search among the required members.
    fn take_tag_steps(&mut self, schema: &Normalized<'a>) {
        let required = schema.members().get("required");
        self.take_steps(1 + required.and_then(Value::as_array).map_or(0, Vec::len));
    }

    /// Returns the identity of a branch: its tag, the target of its reference, or the only required member of a closed object.
    fn identity(&mut self, root: &'a JsonObject, node: Node<'a>) -> Option<String> {
        let schema = self.normalized(root, node);
        self.take_tag_steps(&schema);
        if self.should_stop() {
            return None;
        }
        if let Some((name, value)) = self.tags(root, schema.members()).first() {
            return Some(format!("{name}={value}"));
        }
        if schema.from_root {
            return Some(schema.pointer);
        }
        let members = Members::of(root, schema.members());
        let only = (members.required.len() == 1 && members.allows_only_declared())
            .then(|| members.required.first());
        only.flatten().map(|name| (*name).to_owned())
    }

    /// Returns the required members with a single possible value.
    fn tags(&mut self, root: &'a JsonObject, schema: &'a JsonObject) -> Vec<(&'a str, String)> {
        let required = schema.get("required").and_then(Value::as_array);
        let required = required.into_iter().flatten().filter_map(Value::as_str);
        let required: BTreeSet<&str> = required.collect();
        let properties = members(schema.get("properties"));
        let mut found = Vec::new();
        for name in required {
            let Some(property) = properties.and_then(|all| all.get(name)) else {
                continue;
            };
            if self.should_stop() {
                break;
            }
            if let Some(only) = self.only_value(root, Node::of(property)) {
                found.push((name, only));
            }
        }
        found
    }

    /// Returns the only value that a schema allows, as JSON.
    fn only_value(&mut self, root: &'a JsonObject, node: Node<'a>) -> Option<String> {
        let schema = self.normalized(root, node);
        let listed = schema.members().get("enum").and_then(Value::as_array);
        if listed.is_some_and(|values| values.len() > MAX_TAG_VALUES) {
            return None;
        }
        let mut values = self.allowed_values(&schema)?.into_iter();
        let only = values.next()?;
        values.next().is_none().then_some(only)
    }
}
