//! The types that were found in schemas.

use std::collections::BTreeMap;

use super::reader::DEEPEST;
use super::shape::{Kind, Record, Shape, Type, TypeId};

/// Bytes that are compared to find types that are the same. Beyond that, each place has a type of its own.
const MOST_SHARED: usize = 32 << 20;

/// All types with names.
#[derive(Debug, Default)]
pub(in crate::client) struct Types {
    all: Vec<Type>,
}

impl Types {
    pub(in crate::client) fn get(&self, id: TypeId) -> &Type {
        &self.all[id.0]
    }

    pub(super) fn get_mut(&mut self, id: TypeId) -> &mut Type {
        &mut self.all[id.0]
    }

    pub(super) fn kind(&self, shape: &Shape) -> Option<&Kind> {
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

    /// Makes one type of all that are parts of something, have one name there, and are the same. It is called by that name
    /// alone. Tells what became of each type.
    pub(in crate::client) fn share(&mut self) -> Vec<TypeId> {
        let mut now: Vec<TypeId> = (0..self.all.len()).map(TypeId).collect();
        let mut left = MOST_SHARED;
        // Each round merges types whose parts were merged in the one before.
        for _ in 0..DEEPEST {
            let mut seen: BTreeMap<String, TypeId> = BTreeMap::new();
            let mut merged: BTreeMap<TypeId, TypeId> = BTreeMap::new();
            for (index, ty) in self.all.iter().enumerate() {
                let id = TypeId(index);
                if ty.local.is_none() || now[index] != id {
                    continue;
                }
                let key = format!("{:?} {:?} {:?}", ty.local, ty.description, ty.kind);
                left = left.saturating_sub(key.len());
                if left == 0 {
                    break;
                }
                let first = *seen.entry(key).or_insert(id);
                if first != id {
                    merged.insert(id, first);
                }
            }
            if merged.is_empty() {
                break;
            }
            let to = |id: TypeId| merged.get(&id).copied().unwrap_or(id);
            for id in &mut now {
                *id = to(*id);
            }
            for ty in &mut self.all {
                ty.kind.refer(&to);
            }
            for shared in merged.into_values() {
                let ty = &mut self.all[shared.0];
                ty.is_shared = true;
            }
        }
        now
    }

    /// A type that is not known yet.
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

    /// A type that is no part of a schema.
    pub(in crate::client) fn add(&mut self, wanted: String, record: Record) -> Shape {
        let id = self.reserve(wanted);
        self.all[id.0].kind = Kind::Record(record);
        Shape::Named(id)
    }
}
