//! Comparison of constraints by member name: name patterns, and constraints that depend on the presence of a member.

use std::collections::BTreeSet;

use serde_json::Value;
use treenail_schema::JsonObject;

use crate::compare::schema::normalize::Node;
use crate::compare::schema::path::Position;
use crate::compare::schema::text::members;
use crate::compare::schema::walk::Walk;
use crate::compare::schema::{Direction, Effect};

type Schemas<'a> = (&'a JsonObject, &'a JsonObject);

impl<'a> Walk<'_, 'a, '_, '_> {
    /// Compares `patternProperties` and `propertyNames`. If other members are constrained too, an added or removed pattern
    /// may narrow or widen.
    pub(super) fn compare_patterns(
        &mut self,
        schemas: Schemas<'a>,
        others_are_constrained: bool,
        at: Position<'_>,
    ) {
        self.compare_schema_maps(schemas, "patternProperties", others_are_constrained, at);
        self.compare_subschema(schemas, "propertyNames", at, at.direction);
    }

    /// Compares constraints that depend on the presence of a member.
    pub(super) fn compare_dependents(&mut self, schemas: Schemas<'a>, at: Position<'_>) {
        self.compare_schema_maps(schemas, "dependentSchemas", false, at);
        self.compare_dependent_required(schemas, at);
        let (old, new) = (schemas.0.get("dependencies"), schemas.1.get("dependencies"));
        if old != new {
            self.report_keyword(Effect::Changed, at, "dependencies", (old, new));
        }
        self.compare_subschema(schemas, "unevaluatedProperties", at, Direction::Unknown);
    }

    /// Compares the schemas of a map with the same key.
    fn compare_schema_maps(
        &mut self,
        schemas: Schemas<'a>,
        keyword: &str,
        is_unjudged: bool,
        at: Position<'_>,
    ) {
        let old = members(schemas.0.get(keyword));
        let new = members(schemas.1.get(keyword));
        let names: BTreeSet<&String> = [old, new]
            .into_iter()
            .flatten()
            .flat_map(|all| all.keys())
            .collect();
        self.take_steps(names.len() / 8);
        let path = at.path.key(keyword);
        for name in names {
            let at = at.descend(path.key(name));
            let schema =
                |all: Option<&'a JsonObject>| all.and_then(|all| all.get(name)).map(Node::of);
            match (schema(old), schema(new)) {
                (Some(old), Some(new)) if keyword == "dependentSchemas" => {
                    self.compare_parts(old, new, at);
                }
                (Some(old), Some(new)) => self.compare(old, new, at),
                _ if is_unjudged => self.report_changed(at),
                (None, Some(one)) | (Some(one), None) if one.allows_all() => {}
                (None, Some(_)) => self.report_effect(Effect::Narrowed, at, "added a constraint"),
                _ => self.report_effect(Effect::Widened, at, "removed a constraint"),
            }
        }
    }

    fn compare_dependent_required(&mut self, schemas: Schemas<'a>, at: Position<'_>) {
        let names = |schema: &'a JsonObject| -> BTreeSet<(&'a str, &'a str)> {
            let all = members(schema.get("dependentRequired"));
            let all = all.into_iter().flatten();
            all.flat_map(|(name, others)| {
                let others = others.as_array().into_iter().flatten();
                let others = others.filter_map(Value::as_str);
                others.map(|other| (&**name, other))
            })
            .collect()
        };
        let (old, new) = (names(schemas.0), names(schemas.1));
        self.take_steps((old.len() + new.len()) / 8);
        let path = at.path.key("dependentRequired");
        for (name, _) in new.difference(&old) {
            let at = at.descend(path.key(name));
            self.report_effect(Effect::Narrowed, at, "requires another member");
        }
        for (name, _) in old.difference(&new) {
            let at = at.descend(path.key(name));
            self.report_effect(Effect::Widened, at, "no longer requires another member");
        }
    }
}
