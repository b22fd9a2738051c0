//! Alternatives.

mod combine;
mod distinction;
mod merge;
mod name;

use serde_json::{Map, Value};

use self::name::alternative_names;
use super::bounds::description;
use super::reader::{Place, Reader};
use super::shape::{Alternative, Kind, Literal, Shape, TypeId};

/// Maximum number of alternatives of a type.
const MAX_ALTERNATIVES: usize = 100;

/// Number of alternatives that a value matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Matches {
    One,
    Any,
}

impl Reader<'_> {
    /// Reads alternatives, each combined with `base`.
    pub(in crate::client::schema) fn union(
        &mut self,
        base: &Map<String, Value>,
        (alternatives, matches): (&[Value], Matches),
        place: &Place,
    ) -> Shape {
        if alternatives.len() > MAX_ALTERNATIVES {
            return Shape::any(too_many());
        }
        let about = description(base);
        let only = alternatives.iter().filter(|one| !is_null(one));
        if let [only] = only.collect::<Vec<_>>()[..] {
            let only = match self.both(base, only) {
                Ok(only) => only,
                Err(reason) => return Shape::any(reason),
            };
            return if alternatives.len() > 1 {
                self.read(&only, &place.same()).or_null()
            } else {
                self.read(&only, place)
            };
        }
        let mut read: Vec<Alternative> = Vec::new();
        for (name, alternative) in alternative_names(alternatives)
            .into_iter()
            .zip(alternatives)
        {
            let shape = match self.both(base, alternative) {
                Ok(schema) => self.read(&schema, &place.part(&name)),
                Err(reason) => Shape::any(reason),
            };
            let shape = self.described(shape, &place.part(&name));
            read.extend(self.expand(Alternative { name, shape }));
        }
        // The alternatives of an alternative can match together.
        let matches = if read.len() == alternatives.len() {
            matches
        } else {
            Matches::Any
        };
        if let Some(own) = self.own_type(place) {
            drop_own(&mut read, own);
        }
        self.combine((read, matches), about, place)
    }

    /// Moves the description of a single constant to its variant.
    fn described(&mut self, shape: Shape, place: &Place) -> Shape {
        let Shape::Named(id) = shape else {
            return shape;
        };
        let ty = self.types.get(id);
        match (&ty.kind, &ty.description) {
            (Kind::Choice(literals), Some(text)) if literals.len() == 1 => {
                let description = Some(text.clone());
                let value = literals[0].value.clone();
                let literal = Literal { value, description };
                self.named(place, None, Kind::Choice(vec![literal]))
            }
            _ => shape,
        }
    }

    /// Flattens nested alternatives.
    fn expand(&self, one: Alternative) -> Vec<Alternative> {
        match self.types.kind(&one.shape) {
            Some(Kind::Union { alternatives, .. }) => alternatives
                .iter()
                .map(|inner| Alternative {
                    name: inner.name.clone(),
                    shape: inner.shape.clone(),
                })
                .collect(),
            _ => vec![one],
        }
    }
}

/// Drops the alternatives that are the type itself, because they add no values.
fn drop_own(alternatives: &mut Vec<Alternative>, own: TypeId) {
    alternatives.retain_mut(|one| match &one.shape {
        Shape::Named(id) => *id != own,
        Shape::Nullable(inner) if inner.id() == Some(own) => {
            one.shape = Shape::Unit;
            true
        }
        _ => true,
    });
}

fn too_many() -> String {
    format!("there are more than {MAX_ALTERNATIVES} alternatives")
}

pub(super) fn is_null(schema: &Value) -> bool {
    schema.get("type").is_some_and(|name| name == "null")
        || schema.get("const").is_some_and(Value::is_null)
}
