//! Constants.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::bounds::description;
use super::reader::{Place, Reader};
use super::shape::{Kind, Literal, Shape};

/// The most constants that become the variants of a type.
const MOST: usize = 500;
/// Variants that are as much to write as one field.
const VARIANTS_OF_PART: usize = 4;

/// Each constant once, the first of those that are the same.
pub(super) fn unique(literals: impl Iterator<Item = Literal>) -> Vec<Literal> {
    let mut seen = BTreeSet::new();
    literals
        .filter(|literal| seen.insert(literal.value.to_string()))
        .collect()
}

impl Reader<'_> {
    /// One of some constants.
    pub(super) fn choice(
        &mut self,
        schema: &Map<String, Value>,
        values: &[Value],
        place: &Place,
    ) -> Shape {
        let constants = values.iter().filter(|value| !value.is_null());
        let literals = unique(constants.map(|value| Literal {
            value: value.clone(),
            description: None,
        }));
        let is_nullable = values.iter().any(Value::is_null);
        if literals.is_empty() {
            return if is_nullable {
                Shape::Unit
            } else {
                Shape::any("no value fits the schema")
            };
        }
        if literals
            .iter()
            .any(|literal| literal.value.is_array() || literal.value.is_object())
        {
            return Shape::any("its constants are lists or objects");
        }
        if is_nullable {
            return self
                .literals(literals, description(schema), &place.same())
                .or_null();
        }
        self.literals(literals, description(schema), place)
    }

    pub(super) fn literals(
        &mut self,
        literals: Vec<Literal>,
        description: Option<String>,
        place: &Place,
    ) -> Shape {
        let has = |value: bool| literals.iter().any(|literal| literal.value == value);
        if literals.len() == 2 && has(true) && has(false) {
            return Shape::Bool;
        }
        if literals.len() > MOST {
            let are_texts = literals.iter().all(|literal| literal.value.is_string());
            return if are_texts {
                Shape::Text
            } else {
                Shape::any(format!("there are more than {MOST} constants"))
            };
        }
        if let Err(reason) = self.budget.parts(1 + literals.len() / VARIANTS_OF_PART) {
            return Shape::any(reason);
        }
        self.named(place, description, Kind::Choice(literals))
    }
}
