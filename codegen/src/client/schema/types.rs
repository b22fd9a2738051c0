//! Named types found in schemas.

use std::collections::{BTreeMap, BTreeSet};

use super::shape::{Kind, Record, Shape, Type, TypeId};

/// All named types.
#[derive(Debug, Default)]
pub(in crate::client) struct Types {
    pub(super) all: Vec<Type>,
    pub(super) aliases: BTreeMap<TypeId, TypeId>,
}

impl Types {
    pub(in crate::client) fn get(&self, id: TypeId) -> &Type {
        &self.all[id.0]
    }

    pub(super) fn get_mut(&mut self, id: TypeId) -> &mut Type {
        &mut self.all[id.0]
    }

    pub(in crate::client) fn kind(&self, shape: &Shape) -> Option<&Kind> {
        match shape {
            Shape::Named(id) => Some(&self.get(*id).kind),
            _ => None,
        }
    }

    pub(super) fn record(&self, shape: &Shape) -> Option<&Record> {
        match self.kind(shape)? {
            Kind::Record(record) => Some(record),
            _ => None,
        }
    }

    /// Returns `true` for a shape with a single value.
    pub(in crate::client) fn is_constant(&self, shape: &Shape) -> bool {
        match self.kind(shape) {
            Some(Kind::Choice(literals)) => literals.len() == 1,
            Some(_) => false,
            None => *shape == Shape::Unit,
        }
    }

    /// The types that are the same as another one, with that type. They have a name, but no definition.
    pub(in crate::client) fn aliases(&self) -> &BTreeMap<TypeId, TypeId> {
        &self.aliases
    }

    /// The id of the next type.
    pub(super) fn next_id(&self) -> TypeId {
        TypeId(self.all.len())
    }

    /// Replaces the types from `first` on whose values are values of the same type again, without a member or an item between
    /// them, by any JSON. Rust cannot express them: conversions would conflict, and deserialization would not terminate.
    pub(super) fn replace_cycles(&mut self, first: TypeId) {
        let ids = (first.0..self.all.len()).map(TypeId);
        let with_values = ids.map(|id| (id, self.get(id).kind.same_values()));
        let mut left: BTreeMap<TypeId, Vec<TypeId>> = with_values.collect();
        // A type on a cycle has a successor and a predecessor on it. The rest is removed from both ends.
        loop {
            let count = left.len();
            let ids: BTreeSet<TypeId> = left.keys().copied().collect();
            left.retain(|_, next| next.iter().any(|id| ids.contains(id)));
            let next: BTreeSet<TypeId> = left.values().flatten().copied().collect();
            left.retain(|id, _| next.contains(id));
            if left.len() == count {
                break;
            }
        }
        for id in left.into_keys() {
            let reason = "one of its alternatives is the type itself";
            self.get_mut(id).kind = Kind::Newtype(Shape::any(reason));
        }
    }

    /// Adds a type without a definition yet.
    pub(super) fn reserve(&mut self, wanted: String) -> TypeId {
        self.all.push(Type {
            wanted,
            local: None,
            is_shared: false,
            description: None,
            kind: Kind::Unknown,
        });
        TypeId(self.all.len() - 1)
    }

    /// Adds a type that does not come from a schema.
    pub(in crate::client) fn add(&mut self, wanted: String, record: Record) -> Shape {
        let id = self.reserve(wanted);
        self.all[id.0].kind = Kind::Record(record);
        Shape::Named(id)
    }
}
