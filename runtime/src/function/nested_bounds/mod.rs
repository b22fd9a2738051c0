//! Bounds in the schema of an argument: of the type itself, its fields, its items and its values.
//!
//! They are collected once, from the schema that the type declares, and checked in the JSON of each call. Nothing here is
//! generic, so that it is compiled once for all arguments.

mod bound;
mod collect;
mod walk;

use std::iter::from_fn;

use serde_json::Value;
use treenail_schema::internal::json_schema::{MAX_STEPS, Schema};

use self::bound::{Amount, Bound, Quantity};
use crate::function::argument::Form;
use crate::function::argument_error::{Fault, Problem};
use crate::wire::as_string;

/// The bounds of one argument. The first node is that of the argument itself.
///
/// A recursive type refers to a node above it, so the nodes are in one list.
pub(crate) struct NestedBounds(Vec<Node>);

/// The bounds of one schema. Other nodes are referred to by their index.
#[derive(Default)]
struct Node {
    bounds: Vec<Bound>,
    /// True if the value must be an object.
    is_object: bool,
    /// Properties of an object. Those without bounds are listed if `others` has some, which do not apply to them.
    members: Vec<(String, Option<usize>)>,
    /// Members of an object that are not properties, whether their names have a pattern or not.
    others: Option<usize>,
    /// First items of an array.
    prefix: Vec<Option<usize>>,
    /// Items of an array, after those of the prefix.
    items: Option<usize>,
    /// Further bounds of the same value: those of a definition, or of a nullable value.
    same: Option<usize>,
}

impl NestedBounds {
    /// Returns the bounds in a schema of schemars, or `None` if it has none. `definitions` are the targets of its references.
    pub(crate) fn of(schema: &Value, definitions: &Schema) -> Option<Box<Self>> {
        let nodes = collect::nodes(schema, definitions);
        let has_bounds = nodes.iter().any(|node| !node.bounds.is_empty());
        has_bounds.then(|| Box::new(Self(nodes)))
    }

    /// Appends the violations in the JSON of the argument called `name`. It must have been read already, so that it is valid.
    pub(crate) fn check(&self, name: &str, form: Form, json: &str, problems: &mut Vec<Problem>) {
        match form {
            Form::Json => walk::check(self, name, json, problems),
            Form::Text => self.check_text(name, json, problems),
        }
    }

    /// Checks a value that is parsed from a string: the string itself, the number in it, or the JSON in it. The schema of a type
    /// only has bounds of the quantity that the type reads.
    fn check_text(&self, name: &str, json: &str, problems: &mut Vec<Problem>) {
        let Some(text) = as_string(json) else {
            return;
        };
        let characters = Amount::count(text.chars().count());
        let holds = self.holds(0, Quantity::Characters, &characters)
            && Amount::parse(&text).is_none_or(|number| self.holds(0, Quantity::Number, &number));
        if !holds {
            problems.push(Problem::new(name, Fault::wrong(json)));
        } else if text.trim_start().starts_with(['{', '[']) {
            walk::check(self, name, &text, problems);
        }
    }

    /// Returns true if a value of the argument is within the bounds.
    pub(crate) fn accepts(&self, value: &Value) -> bool {
        let mut problems = Vec::new();
        self.check("", Form::Json, &value.to_string(), &mut problems);
        problems.is_empty()
    }

    /// Returns the nodes of one value. Their number is bounded, because a type can refer to itself.
    fn chain(&self, node: usize) -> impl Iterator<Item = &Node> {
        let (mut next, mut left) = (Some(node), MAX_STEPS);
        from_fn(move || {
            left = left.checked_sub(1)?;
            let node = self.0.get(next?)?;
            next = node.same;
            Some(node)
        })
    }

    fn is_object(&self, node: usize) -> bool {
        self.chain(node).any(|node| node.is_object)
    }

    fn holds(&self, node: usize, quantity: Quantity, amount: &Amount) -> bool {
        let holds = |bound: &Bound| bound.quantity != quantity || bound.holds(amount);
        self.chain(node).all(|node| node.bounds.iter().all(holds))
    }

    fn member(&self, node: usize, name: &str) -> Option<usize> {
        self.chain(node).find_map(|node| {
            let declared = node.members.iter().find(|(known, _)| known == name);
            declared.map_or(node.others, |(_, member)| *member)
        })
    }

    fn item(&self, node: usize, index: usize) -> Option<usize> {
        self.chain(node).find_map(|node| {
            let first = node.prefix.get(index).copied();
            first.unwrap_or(node.items)
        })
    }
}
