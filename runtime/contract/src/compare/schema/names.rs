//! What holds for members by the form of their names, and what the presence of one asks for.

use std::collections::BTreeSet;

use serde_json::Value;
use treenail_schema::JsonObject;

use crate::compare::schema::side::Node;
use crate::compare::schema::walk::{At, Walk};
use crate::compare::schema::words::members;
use crate::compare::schema::{Effect, Role};

type Schemas<'a> = (&'a JsonObject, &'a JsonObject);

impl<'a> Walk<'_, 'a, '_, '_> {
    /// Compares `patternProperties` and `propertyNames`. Where other members are bound, a pattern more or less may go
    /// either way.
    pub(super) fn patterns(&mut self, schemas: Schemas<'a>, others_are_bound: bool, at: At<'_>) {
        let is_bound = others_are_bound;
        self.by_name(schemas, "patternProperties", is_bound, at);
        self.part(schemas, "propertyNames", at, at.role);
    }

    /// Compares what the presence of a member asks for.
    pub(super) fn dependents(&mut self, schemas: Schemas<'a>, at: At<'_>) {
        self.by_name(schemas, "dependentSchemas", false, at);
        self.dependent_names(schemas, at);
        let (old, new) = (schemas.0.get("dependencies"), schemas.1.get("dependencies"));
        if old != new {
            self.keyword(Effect::Changed, at, "dependencies", (old, new));
        }
        self.part(schemas, "unevaluatedProperties", at, Role::Unclear);
    }

    /// Compares schemas by names.
    fn by_name(&mut self, schemas: Schemas<'a>, keyword: &str, is_unclear: bool, at: At<'_>) {
        let old = members(schemas.0.get(keyword));
        let new = members(schemas.1.get(keyword));
        let names: BTreeSet<&String> = [old, new]
            .into_iter()
            .flatten()
            .flat_map(|all| all.keys())
            .collect();
        let path = at.path.key(keyword);
        for name in names {
            let at = at.to(path.key(name));
            let schema =
                |all: Option<&'a JsonObject>| all.and_then(|all| all.get(name)).map(Node::of);
            match (schema(old), schema(new)) {
                (Some(old), Some(new)) => self.compare(old, new, at),
                _ if is_unclear => self.changed(at),
                (None, Some(_)) => self.effect(Effect::Narrowed, at, "it asks for something more"),
                _ => self.effect(
                    Effect::Widened,
                    at,
                    "it does not ask for something any more",
                ),
            }
        }
    }

    fn dependent_names(&mut self, schemas: Schemas<'a>, at: At<'_>) {
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
        let path = at.path.key("dependentRequired");
        for (name, _) in new.difference(&old) {
            let at = at.to(path.key(name));
            self.effect(Effect::Narrowed, at, "it asks for another member");
        }
        for (name, _) in old.difference(&new) {
            let at = at.to(path.key(name));
            self.effect(
                Effect::Widened,
                at,
                "it does not ask for another member any more",
            );
        }
    }
}
