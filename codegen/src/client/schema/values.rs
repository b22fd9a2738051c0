//! Constants.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::bounds::description;
use super::reader::{Place, Reader};
use super::shape::{Kind, Literal, Shape};

/// Maximum number of constants of an enum.
pub(super) const MAX_CONSTANTS: usize = 500;
/// Number of variants that count as one part.
const VARIANTS_PER_PART: usize = 4;

/// Removes duplicate constants, except the first.
pub(super) fn unique(literals: impl Iterator<Item = Literal>) -> Vec<Literal> {
    let mut seen = BTreeSet::new();
    literals
        .filter(|literal| seen.insert(literal.value.to_string()))
        .collect()
}

impl Reader<'_> {
    /// Reads an `enum` or `const`.
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
                Shape::any("no value matches the schema")
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
        if literals.len() > MAX_CONSTANTS {
            let are_texts = literals.iter().all(|literal| literal.value.is_string());
            return if are_texts {
                Shape::Text
            } else {
                Shape::any(format!("there are more than {MAX_CONSTANTS} constants"))
            };
        }
        if let Err(reason) = self
            .budget
            .charge_parts(1 + literals.len() / VARIANTS_PER_PART)
        {
            return Shape::any(reason);
        }
        self.named(place, description, Kind::Choice(literals))
    }
}
