//! Schemas of schemas: several that apply together, or of which one has to.

use serde_json::Value;
use treenail_schema::JsonObject;

use crate::compare::schema::side::{Node, Settled, constraints, resolve};
use crate::compare::schema::walk::{At, Walk};
use crate::compare::schema::{Effect, Role};

/// Schemas of which at least one has to apply, or all have to.
struct Branches<'a> {
    nodes: Vec<Node<'a>>,
    /// The schema that they are in.
    whole: &'a JsonObject,
    /// Where they stand; nothing if there is one, which is the schema itself.
    keyword: Option<&'static str>,
}

/// What happens when there is a branch more.
#[derive(Clone, Copy)]
enum More {
    /// One of them has to apply.
    Widens,
    /// All of them have to.
    Narrows,
    /// Exactly one has to.
    Changes,
}

impl<'a> Walk<'_, 'a, '_, '_> {
    /// Compares two schemas of which at least one is nothing but a choice; whether that is so.
    pub(super) fn alternatives(
        &mut self,
        old: &Settled<'a>,
        new: &Settled<'a>,
        at: At<'_>,
    ) -> bool {
        let choices = (
            self.only_choice(self.old, old),
            self.only_choice(self.new, new),
        );
        if choices.0.is_none() && choices.1.is_none() {
            return false;
        }
        let old = choices.0.unwrap_or_else(|| whole(old));
        let new = choices.1.unwrap_or_else(|| whole(new));
        self.branches(&old, &new, More::Widens, at);
        true
    }

    /// The branches of a schema that is nothing but a choice.
    fn only_choice(&mut self, root: &'a JsonObject, schema: &Settled<'a>) -> Option<Branches<'a>> {
        let mut keywords = constraints(schema.members());
        let only = (keywords.next(), keywords.next());
        match only {
            (Some(("anyOf", Value::Array(_))), None) => Some(branches(schema.members(), "anyOf")),
            (Some(("oneOf", Value::Array(_))), None) => {
                let branches = branches(schema.members(), "oneOf");
                self.are_disjoint(root, &branches.nodes).then_some(branches)
            }
            _ => None,
        }
    }

    /// Compares what applies in addition to the other keywords.
    pub(super) fn conditions(&mut self, old: &Settled<'a>, new: &Settled<'a>, at: At<'_>) {
        let schemas = (old.members(), new.members());
        self.choice(schemas, "anyOf", More::Widens, at);
        let one = |schema| branches(schema, "oneOf").nodes;
        let are_disjoint = self.are_disjoint(self.old, &one(schemas.0))
            && self.are_disjoint(self.new, &one(schemas.1));
        let more = if are_disjoint {
            More::Widens
        } else {
            More::Changes
        };
        self.choice(schemas, "oneOf", more, at);
        self.choice(schemas, "allOf", More::Narrows, at);
        self.references(schemas, at);
        self.part(schemas, "not", at, Role::Unclear);
        let conditions = ["if", "then", "else"];
        let has = |schema: &JsonObject| conditions.map(|name| schema.contains_key(name));
        if has(schemas.0) != has(schemas.1) {
            self.changed(at.to(at.path.key("if")));
            return;
        }
        for name in conditions {
            self.part(schemas, name, at, Role::Unclear);
        }
    }

    fn choice(
        &mut self,
        schemas: (&'a JsonObject, &'a JsonObject),
        keyword: &'static str,
        more: More,
        at: At<'_>,
    ) {
        let values = (schemas.0.get(keyword), schemas.1.get(keyword));
        let effect = match (values.0.is_some(), values.1.is_some(), more) {
            (false, false, _) => return,
            (true, true, _) | (_, _, More::Narrows) => {
                let (old, new) = (branches(schemas.0, keyword), branches(schemas.1, keyword));
                return self.branches(&old, &new, more, at);
            }
            (false, true, _) => Effect::Narrowed,
            (true, false, _) => {
                let gone = branches(schemas.0, keyword).nodes;
                if self.lose_members(&gone, schemas.1, at.to(at.path.key(keyword))) {
                    return;
                }
                Effect::Widened
            }
        };
        self.keyword(effect, at, keyword, values);
    }

    /// Compares references that stand beside other keywords, and those that are not understood.
    fn references(&mut self, schemas: (&'a JsonObject, &'a JsonObject), at: At<'_>) {
        for keyword in ["$ref", "$dynamicRef", "$recursiveRef"] {
            let values = (schemas.0.get(keyword), schemas.1.get(keyword));
            let resolved = |root: &'a JsonObject, value: Option<&Value>| {
                let reference = value.and_then(Value::as_str).filter(|_| keyword == "$ref");
                reference.and_then(|reference| resolve(root, reference))
            };
            match values {
                (None, None) => {}
                (None, Some(_)) => self.keyword(Effect::Narrowed, at, keyword, values),
                (Some(_), None) => {
                    let gone = resolved(self.old, values.0).map(|(_, node)| node);
                    let place = at.to(at.path.key(keyword));
                    if !self.lose_members(gone.as_slice(), schemas.1, place) {
                        self.keyword(Effect::Widened, at, keyword, values);
                    }
                }
                (Some(one), Some(other)) => {
                    match (resolved(self.old, values.0), resolved(self.new, values.1)) {
                        (Some((_, old)), Some((_, new))) => {
                            self.compare(old, new, at.to(at.path.key(keyword)));
                        }
                        _ if one == other => self.definitions(at),
                        _ => self.keyword(Effect::Changed, at, keyword, values),
                    }
                }
            }
        }
    }

    /// Finds out which branches belong together, and compares them. Their order means nothing.
    fn branches(&mut self, old: &Branches<'a>, new: &Branches<'a>, more: More, at: At<'_>) {
        let path = new.keyword.map(|keyword| at.path.key(keyword));
        let inside = match more {
            More::Changes => at.with(Role::Unclear),
            _ => at,
        };
        let (gone, come) = self.matched(&old.nodes, &new.nodes, at, |walk: &mut Self, old, new| {
            let place = path.as_ref().map(|path| path.index(new.0));
            walk.compare(old, new.1, inside.to(place.unwrap_or(at.path)));
        });
        let at = path.as_ref().map_or(at, |path| at.to(*path));
        match (more, !gone.is_empty(), come) {
            (_, false, false) => {}
            (More::Widens, false, true) => self.effect(Effect::Widened, at, "a choice is new"),
            (More::Widens, true, false) => self.effect(Effect::Narrowed, at, "a choice is gone"),
            (More::Narrows, false, true) => {
                self.effect(Effect::Narrowed, at, "it asks for something more");
            }
            (More::Narrows, true, false) => {
                if !self.lose_members(&gone, new.whole, at) {
                    self.effect(Effect::Widened, at, "it asks for less");
                }
            }
            _ => self.changed(at),
        }
    }
}

fn branches<'a>(schema: &'a JsonObject, keyword: &'static str) -> Branches<'a> {
    let nodes = schema.get(keyword).and_then(Value::as_array);
    Branches {
        nodes: nodes.into_iter().flatten().map(Node::of).collect(),
        whole: schema,
        keyword: Some(keyword),
    }
}

/// A schema as the only branch. One that may be `null` beside what it is has two.
fn whole<'a>(schema: &Settled<'a>) -> Branches<'a> {
    match schema.or_null {
        Some((choice, keyword)) => branches(choice, keyword),
        None => Branches {
            nodes: vec![schema.node],
            whole: schema.members(),
            keyword: None,
        },
    }
}
