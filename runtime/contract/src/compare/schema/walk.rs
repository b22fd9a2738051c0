//! Going through two schemas at once.

use std::collections::HashSet;

use serde_json::Value;
use treenail_schema::JsonObject;

use crate::Severity;
use crate::compare::report::Entry;
use crate::compare::schema::path::Path;
use crate::compare::schema::side::{Node, Settled, settle};
use crate::compare::schema::{Effect, Role};

/// Where both schemas are.
#[derive(Clone, Copy, Debug)]
pub(super) struct At<'p> {
    pub(super) role: Role,
    pub(super) path: Path<'p>,
    pub(super) depth: u32,
}

impl<'p> At<'p> {
    /// One level deeper.
    pub(super) fn to(self, path: Path<'p>) -> Self {
        Self {
            path,
            depth: self.depth + 1,
            ..self
        }
    }

    pub(super) fn with(self, role: Role) -> Self {
        Self { role, ..self }
    }
}

/// Two places, by their addresses; a `null` that is allowed in addition makes a difference.
type Pair = (usize, bool, usize, bool);

/// Both schemas, and what is known of them.
pub(super) struct Walk<'w, 'a, 'r, 'l> {
    pub(super) old: &'a JsonObject,
    pub(super) new: &'a JsonObject,
    place: &'w str,
    pub(super) entry: &'w mut Entry<'r, 'l>,
    /// What has been compared. A recursive schema comes back to it, and many references share it.
    seen: HashSet<(Pair, Role)>,
    /// What has been found to allow the same, and not to. While a pair is looked at, it counts as the same.
    same: HashSet<Pair>,
    different: HashSet<Pair>,
    /// The pairs of `same` in the order in which they came.
    assumed: Vec<Pair>,
    /// While it is only asked whether two schemas allow the same: whether something was found.
    probe: Option<bool>,
    /// The words that have been compared.
    pub(super) told: HashSet<(usize, usize)>,
    /// Where the values of the new schema stand that are in a change already. They are only told apart.
    pub(super) shown: HashSet<*const Value>,
    pub(super) knows_definitions: bool,
    is_spent: bool,
}

impl<'w, 'a, 'r, 'l> Walk<'w, 'a, 'r, 'l> {
    pub(super) fn new(
        old: &'a JsonObject,
        new: &'a JsonObject,
        place: &'w str,
        entry: &'w mut Entry<'r, 'l>,
    ) -> Self {
        Self {
            old,
            new,
            place,
            entry,
            seen: HashSet::new(),
            same: HashSet::new(),
            different: HashSet::new(),
            assumed: Vec::new(),
            probe: None,
            told: HashSet::new(),
            shown: HashSet::new(),
            knows_definitions: false,
            is_spent: false,
        }
    }

    /// Says what could not be compared.
    pub(super) fn finish(mut self) {
        if self.is_spent {
            return self.spent();
        }
        self.unused_definitions();
        self.untold();
        if self.is_spent {
            self.spent();
        }
    }

    fn spent(&mut self) {
        let most = self.entry.limits().steps;
        let message =
            format!("it is different, and comparing all of it would take more than {most} steps");
        self.entry.change(Severity::Breaking, self.place, &message);
    }

    /// Where the schemas themselves are.
    pub(super) fn root(&self) -> Path<'w> {
        Path::whole(self.place)
    }

    /// Takes steps of those that there are.
    pub(super) fn step(&mut self, steps: usize) {
        if !self.entry.step(steps) {
            self.is_spent = true;
        }
    }

    /// Whether there is no sense in going on.
    pub(super) fn is_over(&self) -> bool {
        self.is_spent || self.probe == Some(true)
    }

    pub(super) fn is_probing(&self) -> bool {
        self.probe.is_some()
    }

    /// Compares two schemas.
    pub(super) fn compare(&mut self, old: Node<'a>, new: Node<'a>, at: At<'_>) {
        self.step(1);
        if self.is_over() {
            return;
        }
        let (old, new) = (settle(self.old, old), settle(self.new, new));
        let whole = self.root();
        let path = match (new.from_root, new.trail.is_empty()) {
            (true, _) => whole.pointer(&new.trail),
            (false, false) => at.path.pointer(&new.trail),
            (false, true) => at.path,
        };
        let at = At { path, ..at };
        self.settled(&old, &new, at);
    }

    fn settled(&mut self, old: &Settled<'a>, new: &Settled<'a>, at: At<'_>) {
        self.step(
            (old.told.len() + new.told.len() + old.members().len() + new.members().len()) / 8,
        );
        if !self.is_probing() {
            self.words(old, new, at);
        }
        // What says nothing has parts that say nothing, and so on.
        if old.node.allows_all() && new.node.allows_all() {
            return;
        }
        let is_plain = matches!((old.node, new.node), (Node::Bool(_), Node::Bool(_)));
        if !is_plain && !self.is_first(pair(old, new), at.role) {
            return;
        }
        if at.depth > self.entry.limits().depth {
            self.effect(
                Effect::Changed,
                at,
                "it is nested too deeply to be compared",
            );
            return;
        }
        if old.is_foreign || new.is_foreign {
            if old.node.address() != new.node.address() && old.members() != new.members() {
                self.changed(at);
            }
            return self.definitions(at);
        }
        match (old.is_never(), new.is_never()) {
            (true, true) => {}
            (true, false) => self.effect(Effect::Widened, at, "something is allowed here now"),
            (false, true) => self.effect(Effect::Narrowed, at, "nothing is allowed here any more"),
            (false, false) => self.constraints(old, new, at),
        }
    }

    fn constraints(&mut self, old: &Settled<'a>, new: &Settled<'a>, at: At<'_>) {
        if self.alternatives(old, new, at) || !self.types(old, new, at) {
            return;
        }
        self.numbers(old, new, at);
        self.texts(old, new, at);
        self.objects(old, new, at);
        self.lists(old, new, at);
        self.conditions(old, new, at);
    }

    /// Whether a pair has not been looked at before.
    fn is_first(&mut self, pair: Pair, role: Role) -> bool {
        if !self.is_probing() {
            return self.seen.insert((pair, role));
        }
        if self.different.contains(&pair) {
            self.probe = Some(true);
            return false;
        }
        let is_first = self.same.insert(pair);
        if is_first {
            self.assumed.push(pair);
        }
        is_first
    }

    /// Whether two schemas allow the same, whatever they say of it.
    pub(super) fn is_same(&mut self, old: Node<'a>, new: Node<'a>, at: At<'_>) -> bool {
        self.step(1);
        let outer = self.probe.replace(false);
        let before = self.assumed.len();
        self.compare(old, new, at.with(Role::Unclear));
        let is_same = self.probe == Some(false) && !self.is_spent;
        if !is_same {
            // What was the same only if these are is not known any more. That these are not is certain.
            for pair in self.assumed.drain(before..) {
                self.same.remove(&pair);
            }
            if !self.is_spent {
                let settled = (settle(self.old, old), settle(self.new, new));
                self.different.insert(pair(&settled.0, &settled.1));
            }
        }
        self.probe = outer;
        is_same
    }

    /// Something that has an effect on what is allowed.
    pub(super) fn effect(&mut self, effect: Effect, at: At<'_>, message: &str) {
        self.found(effect, at, message, (None, None));
    }

    /// A keyword that has an effect on what is allowed.
    pub(super) fn keyword(
        &mut self,
        effect: Effect,
        at: At<'_>,
        name: &str,
        (old, new): (Option<&Value>, Option<&Value>),
    ) {
        if !self.is_probing() {
            self.shown.extend(new.map(std::ptr::from_ref));
        }
        let message = match effect {
            Effect::Narrowed => format!("`{name}` allows less"),
            Effect::Widened => format!("`{name}` allows more"),
            Effect::Changed => CHANGED.to_owned(),
        };
        let (old, new) = (old.map(Value::to_string), new.map(Value::to_string));
        let at = at.to(at.path.key(name));
        self.found(effect, at, &message, (old.as_deref(), new.as_deref()));
    }

    /// Something that has an effect on what is allowed, with what was there and what is.
    pub(super) fn found(
        &mut self,
        effect: Effect,
        at: At<'_>,
        message: &str,
        texts: (Option<&str>, Option<&str>),
    ) {
        if self.probe.is_some() {
            self.probe = Some(true);
            return;
        }
        let path = at.path.written(self.entry.limits().text_bytes);
        let severity = at.role.severity(effect);
        if at.role == Role::Unclear && effect != Effect::Changed {
            let message = format!("{message}, in a place where it cannot be judged");
            self.entry.shown(severity, &path, &message, texts);
        } else {
            self.entry.shown(severity, &path, message, texts);
        }
    }

    /// Something that is different, and has an effect that is not known.
    pub(super) fn changed(&mut self, at: At<'_>) {
        self.effect(Effect::Changed, at, CHANGED);
    }
}

const CHANGED: &str = "changed in a way that cannot be judged";

fn pair(old: &Settled<'_>, new: &Settled<'_>) -> Pair {
    (
        old.node.address(),
        old.or_null.is_some(),
        new.node.address(),
        new.or_null.is_some(),
    )
}
