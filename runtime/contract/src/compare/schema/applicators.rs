//! Comparison of keywords that apply subschemas to the same value: choices, references and conditions.

use serde_json::Value;
use treenail_schema::JsonObject;

use crate::compare::schema::constants::{has_only_constants, indexed};
use crate::compare::schema::normalize::{Node, Normalized, constraints, resolve};
use crate::compare::schema::path::Position;
use crate::compare::schema::scope::Choice;
use crate::compare::schema::walk::Walk;
use crate::compare::schema::{Direction, Effect};

/// Schemas in an applicator such as `anyOf`.
pub(super) struct Branches<'a> {
    pub(super) nodes: Vec<Node<'a>>,
    /// The schema that contains them.
    parent: &'a JsonObject,
    /// Keyword of the list; `None` if the only branch is the schema itself.
    pub(super) keyword: Option<&'static str>,
}

impl<'a> Branches<'a> {
    pub(super) fn of(schema: &'a JsonObject, keyword: &'static str) -> Self {
        let nodes = schema.get(keyword).and_then(Value::as_array);
        Self {
            nodes: nodes.into_iter().flatten().map(Node::of).collect(),
            parent: schema,
            keyword: Some(keyword),
        }
    }

    /// Wraps a schema as the only branch, or with its alternative `null`.
    fn only(schema: &Normalized<'a>) -> Self {
        match schema.or_null {
            Some((choice, keyword)) => Self::of(choice, keyword),
            None => Self {
                nodes: vec![schema.node],
                parent: schema.members(),
                keyword: None,
            },
        }
    }
}

/// Effect of an additional branch.
#[derive(Clone, Copy)]
enum AddedBranch {
    /// `anyOf`: at least one branch must apply.
    Widens,
    /// `allOf`: every branch must apply.
    Narrows,
    /// `oneOf` with overlapping branches: exactly one must apply.
    Changes,
}

impl<'a> Walk<'_, 'a, '_, '_> {
    /// Compares two schemas if at least one consists of a single choice. Returns `false` if none does, or only a choice of
    /// constants, which is compared as an enumeration.
    pub(super) fn compare_alternatives(
        &mut self,
        old: &Normalized<'a>,
        new: &Normalized<'a>,
        at: Position<'_>,
    ) -> bool {
        let choices = (
            self.only_choice(self.old, old),
            self.only_choice(self.new, new),
        );
        let is_listed = |choice: &Option<_>, schema: &Normalized<'a>| {
            choice.is_none() || has_only_constants(schema.members())
        };
        if is_listed(&choices.0, old) && is_listed(&choices.1, new) {
            return false;
        }
        let old = choices.0.unwrap_or_else(|| Branches::only(old));
        let new = choices.1.unwrap_or_else(|| Branches::only(new));
        self.compare_branches(&old, &new, AddedBranch::Widens, at);
        true
    }

    /// Returns the branches of a schema that consists of a single choice.
    fn only_choice(
        &mut self,
        root: &'a JsonObject,
        schema: &Normalized<'a>,
    ) -> Option<Branches<'a>> {
        if schema.or_null.is_some() {
            return None;
        }
        let mut keywords = constraints(schema.members());
        let only = (keywords.next(), keywords.next());
        match only {
            (Some(("anyOf", Value::Array(_))), None) => {
                Some(Branches::of(schema.members(), "anyOf"))
            }
            (Some(("oneOf", Value::Array(_))), None) => {
                let branches = Branches::of(schema.members(), "oneOf");
                self.are_disjoint(root, &branches.nodes).then_some(branches)
            }
            _ => None,
        }
    }

    /// Compares the applicators of two schemas that have other keywords too.
    pub(super) fn compare_applicators(
        &mut self,
        old: &Normalized<'a>,
        new: &Normalized<'a>,
        at: Position<'_>,
    ) {
        let schemas = (old.members(), new.members());
        // Choices of constants are already compared as enumerations.
        if !(has_only_constants(schemas.0) && has_only_constants(schemas.1)) {
            self.compare_choice(schemas, "anyOf", AddedBranch::Widens, at);
            let one = |schema| Branches::of(schema, "oneOf").nodes;
            let are_disjoint = self.are_disjoint(self.old, &one(schemas.0))
                && self.are_disjoint(self.new, &one(schemas.1));
            let added = if are_disjoint {
                AddedBranch::Widens
            } else {
                AddedBranch::Changes
            };
            self.compare_choice(schemas, "oneOf", added, at);
        }
        self.compare_choice(schemas, "allOf", AddedBranch::Narrows, at);
        self.compare_references(schemas, at);
        self.compare_subschema(schemas, "not", at, Direction::Unknown);
        let conditions = ["if", "then", "else"];
        let has = |schema: &JsonObject| conditions.map(|name| schema.contains_key(name));
        if has(schemas.0) != has(schemas.1) {
            self.report_changed(at.descend(at.path.key("if")));
            return;
        }
        for name in conditions {
            self.compare_subschema(schemas, name, at, Direction::Unknown);
        }
    }

    fn compare_choice(
        &mut self,
        schemas: (&'a JsonObject, &'a JsonObject),
        keyword: &'static str,
        added: AddedBranch,
        at: Position<'_>,
    ) {
        let values = (schemas.0.get(keyword), schemas.1.get(keyword));
        let effect = match (values.0.is_some(), values.1.is_some(), added) {
            (false, false, _) => return,
            (true, true, _) | (_, _, AddedBranch::Narrows) => {
                let (old, new) = (
                    Branches::of(schemas.0, keyword),
                    Branches::of(schemas.1, keyword),
                );
                return self.compare_branches(&old, &new, added, at);
            }
            (false, true, _) => Effect::Narrowed,
            (true, false, _) => {
                let removed = Branches::of(schemas.0, keyword).nodes;
                if self.report_lost_members(&removed, schemas.1, at.descend(at.path.key(keyword))) {
                    return;
                }
                Effect::Widened
            }
        };
        self.report_keyword(effect, at, keyword, values);
    }

    /// Compares references beside other keywords, and references that cannot be resolved.
    fn compare_references(&mut self, schemas: (&'a JsonObject, &'a JsonObject), at: Position<'_>) {
        for keyword in ["$ref", "$dynamicRef", "$recursiveRef"] {
            let values = (schemas.0.get(keyword), schemas.1.get(keyword));
            let resolved = |root: &'a JsonObject, value: Option<&Value>| {
                let reference = value.and_then(Value::as_str).filter(|_| keyword == "$ref");
                reference.and_then(|reference| resolve(root, reference))
            };
            match values {
                (None, None) => {}
                (None, Some(_)) => self.report_keyword(Effect::Narrowed, at, keyword, values),
                (Some(_), None) => {
                    let removed = resolved(self.old, values.0).map(|(_, node)| node);
                    let inner = at.descend(at.path.key(keyword));
                    if !self.report_lost_members(removed.as_slice(), schemas.1, inner) {
                        self.report_keyword(Effect::Widened, at, keyword, values);
                    }
                }
                (Some(one), Some(other)) => {
                    match (resolved(self.old, values.0), resolved(self.new, values.1)) {
                        (Some((_, old)), Some((_, new))) => {
                            self.compare_parts(old, new, at.descend(at.path.key(keyword)));
                        }
                        _ if one == other => self.compare_definitions(at),
                        _ => self.report_keyword(Effect::Changed, at, keyword, values),
                    }
                }
            }
        }
    }

    /// Matches the branches, in any order, and compares them.
    fn compare_branches(
        &mut self,
        old: &Branches<'a>,
        new: &Branches<'a>,
        added: AddedBranch,
        at: Position<'_>,
    ) {
        let path = new.keyword.map(|keyword| at.path.key(keyword));
        let inside = match added {
            AddedBranch::Changes => at.in_direction(Direction::Unknown),
            _ => at,
        };
        let choice = match added {
            AddedBranch::Narrows => None,
            AddedBranch::Widens | AddedBranch::Changes => Some(Choice::of(&old.nodes)),
        };
        let (old_branches, new_branches) = match added {
            AddedBranch::Widens => self.compare_constant_branches(old, new, at),
            AddedBranch::Narrows | AddedBranch::Changes => {
                (indexed(&old.nodes), indexed(&new.nodes))
            }
        };
        let (removed, has_new) = self.match_branches(
            &old_branches,
            new_branches,
            at,
            |walk: &mut Self, old, new| {
                let inner = path.as_ref().map(|path| path.index(new.0));
                let at = inside.descend(inner.unwrap_or(at.path));
                match &choice {
                    Some(choice) => walk.compare_chosen(choice, (old, new.1), at),
                    None => walk.compare_parts(old, new.1, at),
                }
            },
        );
        let at = path.as_ref().map_or(at, |path| at.descend(*path));
        match (added, !removed.is_empty(), has_new) {
            (_, false, false) => {}
            (AddedBranch::Widens, false, true) => {
                self.report_effect(Effect::Widened, at, "added an alternative");
            }
            (AddedBranch::Widens, true, false) => {
                self.report_effect(Effect::Narrowed, at, "removed an alternative");
            }
            (AddedBranch::Narrows, false, true) => {
                self.report_effect(Effect::Narrowed, at, "added a constraint");
            }
            (AddedBranch::Narrows, true, false) => {
                if !self.report_lost_members(&removed, new.parent, at) {
                    self.report_effect(Effect::Widened, at, "removed a constraint");
                }
            }
            _ => self.report_changed(at),
        }
    }
}
