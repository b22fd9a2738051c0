//! Traversal of two schemas at once.

use std::collections::{HashMap, HashSet};

use serde_json::Value;
use treenail_schema::JsonObject;

use crate::Severity;
use crate::compare::report::EntryReport;
use crate::compare::schema::normalize::{Node, Normalized, choice_cost, normalize};
use crate::compare::schema::path::{Path, Position};
use crate::compare::schema::scope::Scope;
use crate::compare::schema::{Direction, Effect};

/// Two schemas, identified by their addresses and by whether `null` is an alternative.
pub(super) type Pair = (usize, bool, usize, bool);

/// Both schemas, and the state of their comparison.
pub(super) struct Walk<'w, 'a, 'r, 'l> {
    pub(super) old: &'a JsonObject,
    pub(super) new: &'a JsonObject,
    /// JSON Pointer of the schemas in their entries.
    location: &'w str,
    pub(super) entry: &'w mut EntryReport<'r, 'l>,
    /// Pairs that are already compared. Recursive schemas and shared references reach a pair again.
    compared: HashSet<(Pair, Direction)>,
    /// Pairs of parts that are compared again, with the address of the value that they are parts of.
    pub(super) compared_in: HashSet<(Pair, usize, Vec<usize>)>,
    /// The value whose parts are compared.
    pub(super) scope: Scope<'a>,
    /// Is `true` if the current parts were compared before, as parts of another value. Their differences are already reported.
    pub(super) is_repeated: bool,
    /// Pairs that are equivalent. A pair is assumed to be equivalent while it is compared.
    equivalent: HashSet<Pair>,
    /// Pairs that are not equivalent.
    different: HashSet<Pair>,
    /// The pairs of `equivalent`, in insertion order.
    assumed: Vec<Pair>,
    /// Is `Some` during a test for equivalence, which reports nothing: `Some(true)` after the first difference.
    pub(super) probe: Option<bool>,
    /// Addresses of the schemas of added members that are reported as narrower.
    pub(super) narrowed: HashSet<usize>,
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
            compared_in: HashSet::new(),
            scope: Scope::of(Node::Object(old)),
            is_repeated: false,
            equivalent: HashSet::new(),
            different: HashSet::new(),
            assumed: Vec::new(),
            probe: None,
            narrowed: HashSet::new(),
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

    /// Normalizes two schemas. Returns `None` if there are no steps left, or the result is already known.
    pub(super) fn normalized_pair(
        &mut self,
        old: Node<'a>,
        new: Node<'a>,
    ) -> Option<(Normalized<'a>, Normalized<'a>)> {
        self.take_steps(1);
        if self.should_stop() {
            return None;
        }
        let pair = (
            self.normalized(self.old, old),
            self.normalized(self.new, new),
        );
        (!self.should_stop()).then_some(pair)
    }

    /// Compares two schemas, at the position of the original one.
    pub(super) fn compare_normalized(
        &mut self,
        old: &Normalized<'a>,
        new: &Normalized<'a>,
        at: Position<'_>,
    ) {
        let root = self.root_path();
        let path = match (new.from_root, new.pointer.is_empty()) {
            (true, _) => root.pointer(&new.pointer),
            (false, false) => at.path.pointer(&new.pointer),
            (false, true) => at.path,
        };
        let at = Position { path, ..at };
        if !self.is_probing() {
            self.compare_texts(old, new, at);
        }
        // Without constraints, there are no subschemas to compare.
        if old.node.allows_all() && new.node.allows_all() {
            return;
        }
        let outer = self.is_repeated;
        let is_plain = matches!((old.node, new.node), (Node::Bool(_), Node::Bool(_)));
        if is_plain || self.insert_pair(pair(old, new), at.direction) {
            self.compare_allowed(old, new, at);
        }
        self.is_repeated = outer;
    }

    /// Compares the values that two schemas allow.
    fn compare_allowed(&mut self, old: &Normalized<'a>, new: &Normalized<'a>, at: Position<'_>) {
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
        self.take_steps((choice_cost(old.members()) + choice_cost(new.members())) / 8);
        if self.compare_alternatives(old, new, at) || !self.compare_types(old, new, at) {
            return;
        }
        self.compare_constant_texts(old, new, at);
        self.compare_numbers(old, new, at);
        self.compare_strings(old, new, at);
        self.compare_objects(old, new, at);
        self.compare_arrays(old, new, at);
        self.compare_applicators(old, new, at);
    }

    /// Records that a pair is compared. Returns `false` if its result is already known.
    fn insert_pair(&mut self, pair: Pair, direction: Direction) -> bool {
        if !self.is_probing() {
            let is_first = self.compared.insert((pair, direction));
            self.is_repeated = !is_first;
            return is_first || self.is_in_other_scope(pair, direction);
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

    /// Returns `true` if a test for equivalence has found no difference between two schemas.
    pub(super) fn is_equivalent(&self, pair: Pair) -> bool {
        self.equivalent.contains(&pair)
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
}

fn pair(old: &Normalized<'_>, new: &Normalized<'_>) -> Pair {
    (
        old.node.address(),
        old.or_null.is_some(),
        new.node.address(),
        new.or_null.is_some(),
    )
}
