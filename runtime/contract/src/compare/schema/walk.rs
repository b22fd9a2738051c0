//! Traversal of two schemas at once.

use std::collections::{HashMap, HashSet};

use serde_json::Value;
use treenail_schema::JsonObject;

use crate::Severity;
use crate::compare::report::EntryReport;
use crate::compare::schema::normalize::{Node, Normalized, normalize};
use crate::compare::schema::path::{Path, Position};
use crate::compare::schema::{Direction, Effect};

/// Two schemas, identified by their addresses and by whether `null` is an alternative.
type Pair = (usize, bool, usize, bool);

/// Both schemas, and the state of their comparison.
pub(super) struct Walk<'w, 'a, 'r, 'l> {
    pub(super) old: &'a JsonObject,
    pub(super) new: &'a JsonObject,
    /// JSON Pointer of the schemas in their entries.
    location: &'w str,
    pub(super) entry: &'w mut EntryReport<'r, 'l>,
    /// Pairs that are already compared. Recursive schemas and shared references reach a pair again.
    compared: HashSet<(Pair, Direction)>,
    /// Pairs that are equivalent. A pair is assumed to be equivalent while it is compared.
    equivalent: HashSet<Pair>,
    /// Pairs that are not equivalent.
    different: HashSet<Pair>,
    /// The pairs of `equivalent`, in insertion order.
    assumed: Vec<Pair>,
    /// Is `Some` during a test for equivalence, which reports nothing: `Some(true)` after the first difference.
    probe: Option<bool>,
    /// Addresses of the texts that are already compared, and `true` if they are equal.
    pub(super) compared_texts: HashMap<(usize, usize), bool>,
    /// Addresses of the texts whose comparison is already reported, if necessary.
    pub(super) reported_texts: HashSet<(usize, usize)>,
    /// Values of the new schema that a change already contains. The pointers are compared only.
    pub(super) reported: HashSet<*const Value>,
    pub(super) compared_definitions: bool,
    is_exhausted: bool,
}

impl<'w, 'a, 'r, 'l> Walk<'w, 'a, 'r, 'l> {
    pub(super) fn new(
        old: &'a JsonObject,
        new: &'a JsonObject,
        location: &'w str,
        entry: &'w mut EntryReport<'r, 'l>,
    ) -> Self {
        Self {
            old,
            new,
            location,
            entry,
            compared: HashSet::new(),
            equivalent: HashSet::new(),
            different: HashSet::new(),
            assumed: Vec::new(),
            probe: None,
            compared_texts: HashMap::new(),
            reported_texts: HashSet::new(),
            reported: HashSet::new(),
            compared_definitions: false,
            is_exhausted: false,
        }
    }

    /// Reports text outside of the compared parts, and an exhausted number of steps.
    pub(super) fn finish(mut self) {
        if self.is_exhausted {
            return self.report_exhausted();
        }
        self.report_unused_definitions();
        self.report_unvisited_text();
        if self.is_exhausted {
            self.report_exhausted();
        }
    }

    fn report_exhausted(&mut self) {
        let max = self.entry.limits().steps;
        let message = format!("differs, and a full comparison takes more than {max} steps");
        self.entry
            .report(Severity::Breaking, self.location, &message);
    }

    /// Returns the path of the schemas themselves.
    pub(super) fn root_path(&self) -> Path<'w> {
        Path::root(self.location)
    }

    /// Takes steps from the remaining ones.
    pub(super) fn take_steps(&mut self, steps: usize) {
        if !self.entry.take_steps(steps) {
            self.is_exhausted = true;
        }
    }

    /// Returns `true` if continuing cannot change the result.
    pub(super) fn should_stop(&self) -> bool {
        self.is_exhausted || self.probe == Some(true)
    }

    pub(super) fn is_probing(&self) -> bool {
        self.probe.is_some()
    }

    /// Normalizes a schema, and takes steps for all schemas on the way.
    pub(super) fn normalized(&mut self, root: &'a JsonObject, node: Node<'a>) -> Normalized<'a> {
        let normalized = normalize(root, node);
        self.take_steps(normalized.cost / 8);
        normalized
    }

    /// Compares two schemas.
    pub(super) fn compare(&mut self, old: Node<'a>, new: Node<'a>, at: Position<'_>) {
        self.take_steps(1);
        if self.should_stop() {
            return;
        }
        let (old, new) = (
            self.normalized(self.old, old),
            self.normalized(self.new, new),
        );
        if self.should_stop() {
            return;
        }
        let root = self.root_path();
        let path = match (new.from_root, new.pointer.is_empty()) {
            (true, _) => root.pointer(&new.pointer),
            (false, false) => at.path.pointer(&new.pointer),
            (false, true) => at.path,
        };
        let at = Position { path, ..at };
        self.compare_normalized(&old, &new, at);
    }

    fn compare_normalized(&mut self, old: &Normalized<'a>, new: &Normalized<'a>, at: Position<'_>) {
        if !self.is_probing() {
            self.compare_texts(old, new, at);
        }
        // Without constraints, there are no subschemas to compare.
        if old.node.allows_all() && new.node.allows_all() {
            return;
        }
        let is_plain = matches!((old.node, new.node), (Node::Bool(_), Node::Bool(_)));
        if !is_plain && !self.insert_pair(pair(old, new), at.direction) {
            return;
        }
        if at.depth > self.entry.limits().depth {
            self.report_effect(Effect::Changed, at, "nested too deeply to compare");
            return;
        }
        if old.is_foreign || new.is_foreign {
            if old.node.address() != new.node.address() && old.members() != new.members() {
                self.report_changed(at);
            }
            return self.compare_definitions(at);
        }
        match (old.is_never(), new.is_never()) {
            (true, true) => {}
            (true, false) => self.report_effect(Effect::Widened, at, "now allows values"),
            (false, true) => self.report_effect(Effect::Narrowed, at, "no longer allows any value"),
            (false, false) => self.compare_constraints(old, new, at),
        }
    }

    fn compare_constraints(
        &mut self,
        old: &Normalized<'a>,
        new: &Normalized<'a>,
        at: Position<'_>,
    ) {
        if self.compare_alternatives(old, new, at) || !self.compare_types(old, new, at) {
            return;
        }
        self.compare_numbers(old, new, at);
        self.compare_strings(old, new, at);
        self.compare_objects(old, new, at);
        self.compare_arrays(old, new, at);
        self.compare_applicators(old, new, at);
    }

    /// Records that a pair is compared. Returns `false` if its result is already known.
    fn insert_pair(&mut self, pair: Pair, direction: Direction) -> bool {
        if !self.is_probing() {
            return self.compared.insert((pair, direction));
        }
        if self.different.contains(&pair) {
            self.probe = Some(true);
            return false;
        }
        let is_new = self.equivalent.insert(pair);
        if is_new {
            self.assumed.push(pair);
        }
        is_new
    }

    /// Returns `true` if two schemas allow the same values.
    pub(super) fn are_equivalent(
        &mut self,
        old: Node<'a>,
        new: Node<'a>,
        at: Position<'_>,
    ) -> bool {
        self.take_steps(1);
        let outer = self.probe.replace(false);
        let before = self.assumed.len();
        self.compare(old, new, at.in_direction(Direction::Unknown));
        let are_equivalent = self.probe == Some(false) && !self.is_exhausted;
        if !are_equivalent {
            // Drop the equivalences assumed while comparing this pair; the difference itself is certain.
            for pair in self.assumed.drain(before..) {
                self.equivalent.remove(&pair);
            }
            if !self.is_exhausted {
                let normalized = (
                    self.normalized(self.old, old),
                    self.normalized(self.new, new),
                );
                self.different.insert(pair(&normalized.0, &normalized.1));
            }
        }
        self.probe = outer;
        are_equivalent
    }

    /// Reports an effect on the allowed values.
    pub(super) fn report_effect(&mut self, effect: Effect, at: Position<'_>, message: &str) {
        self.report_difference(effect, at, message, (None, None));
    }

    /// Reports the effect of a keyword on the allowed values.
    pub(super) fn report_keyword(
        &mut self,
        effect: Effect,
        at: Position<'_>,
        name: &str,
        (old, new): (Option<&Value>, Option<&Value>),
    ) {
        if self.is_probing() {
            self.probe = Some(true);
            return;
        }
        self.reported.extend(new.map(std::ptr::from_ref));
        let message = match effect {
            Effect::Narrowed => format!("`{name}` allows less"),
            Effect::Widened => format!("`{name}` allows more"),
            Effect::Changed => CHANGED.to_owned(),
        };
        let (old, new) = (old.map(Value::to_string), new.map(Value::to_string));
        let length = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        self.take_steps((length(&old) + length(&new)) / 64);
        let at = at.descend(at.path.key(name));
        self.report_difference(effect, at, &message, (old.as_deref(), new.as_deref()));
    }

    /// Reports an effect on the allowed values, with the old and the new text.
    pub(super) fn report_difference(
        &mut self,
        effect: Effect,
        at: Position<'_>,
        message: &str,
        texts: (Option<&str>, Option<&str>),
    ) {
        if self.probe.is_some() {
            self.probe = Some(true);
            return;
        }
        let path = at.path.render(self.entry.limits().text_bytes);
        let severity = at.direction.severity(effect);
        if at.direction == Direction::Unknown && effect != Effect::Changed {
            let message = format!("{message}, at a position where the effect cannot be judged");
            self.entry
                .report_with_texts(severity, &path, &message, texts);
        } else {
            self.entry
                .report_with_texts(severity, &path, message, texts);
        }
    }

    /// Reports a difference whose effect is unknown.
    pub(super) fn report_changed(&mut self, at: Position<'_>) {
        self.report_effect(Effect::Changed, at, CHANGED);
    }
}

const CHANGED: &str = "changed in a way that cannot be judged";

fn pair(old: &Normalized<'_>, new: &Normalized<'_>) -> Pair {
    (
        old.node.address(),
        old.or_null.is_some(),
        new.node.address(),
        new.or_null.is_some(),
    )
}
