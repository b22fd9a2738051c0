//! Named types of schemas, and of the definitions that they refer to.

use super::{Place, Reader};
use crate::client::name::pascal;
use crate::client::schema::bounds::description;
use crate::client::schema::pointer::{last, normal, resolve};
use crate::client::schema::shape::{Kind, Shape, TypeId};

/// State of a referenced definition.
#[derive(Clone, Debug)]
pub(super) enum Definition {
    /// It is being read, and has a named type if it was referenced meanwhile.
    Started(Option<TypeId>),
    Read(Shape),
}

impl Reader<'_> {
    pub(super) fn definition(&mut self, reference: &str, depth: usize) -> Shape {
        let reference = &*normal(reference);
        let types = &mut *self.types;
        match self.definitions.get_mut(reference) {
            Some(Definition::Read(shape)) => shape.clone(),
            Some(Definition::Started(id)) => {
                let name = format!("{}{}", self.prefix, pascal(last(reference)));
                Shape::Named(*id.get_or_insert_with(|| types.reserve(name)))
            }
            None => {
                let name = format!("{}{}", self.prefix, pascal(last(reference)));
                self.define(
                    reference,
                    Place {
                        name,
                        local: Some(pascal(last(reference))),
                        depth: depth + 1,
                        definition: Some(reference.to_owned()),
                    },
                )
            }
        }
    }

    pub(super) fn define(&mut self, reference: &str, place: Place) -> Shape {
        let target = match resolve(self.root, reference, self.budget) {
            Ok(target) => target,
            Err(reason) => return Shape::any(reason),
        };
        self.definitions
            .insert(reference.to_owned(), Definition::Started(None));
        let mut shape = self.read(target, &place);
        if let Some(Definition::Started(Some(id))) = self.definitions.get(reference) {
            let ty = self.types.get_mut(*id);
            if shape != Shape::Named(*id) {
                ty.description = target.as_object().and_then(description);
                ty.wanted = place.name;
                ty.kind = Kind::Newtype(std::mem::replace(&mut shape, Shape::Named(*id)));
            } else if matches!(ty.kind, Kind::Unknown) {
                ty.kind = Kind::Newtype(Shape::any("the schema refers only to itself"));
            }
        }
        self.definitions
            .insert(reference.to_owned(), Definition::Read(shape.clone()));
        shape
    }

    /// The type of the definition at a place while it is read, if it was referenced meanwhile.
    pub(in crate::client::schema) fn own_type(&self, place: &Place) -> Option<TypeId> {
        match self.definitions.get(place.definition.as_ref()?)? {
            Definition::Started(id) => *id,
            Definition::Read(_) => None,
        }
    }

    /// Marks a type as an object whose members are not known yet.
    pub(in crate::client::schema) fn mark_merging(&mut self, id: TypeId) {
        self.types.get_mut(id).kind = Kind::Merging;
    }

    /// Creates the type for a place, before its parts are read.
    pub(in crate::client::schema) fn start_type(&mut self, place: &Place) -> TypeId {
        let definition = place
            .definition
            .as_ref()
            .and_then(|name| self.definitions.get_mut(name));
        let types = &mut *self.types;
        let id = match definition {
            Some(Definition::Started(id)) => {
                *id.get_or_insert_with(|| types.reserve(String::new()))
            }
            _ => types.reserve(String::new()),
        };
        let ty = types.get_mut(id);
        ty.wanted.clone_from(&place.name);
        ty.local.clone_from(&place.local);
        id
    }

    /// Sets the definition of a type.
    pub(in crate::client::schema) fn finish_type(
        &mut self,
        id: TypeId,
        description: Option<String>,
        kind: Kind,
    ) -> Shape {
        let ty = self.types.get_mut(id);
        ty.description = description;
        ty.kind = kind;
        Shape::Named(id)
    }

    /// Creates a type with its definition.
    pub(in crate::client::schema) fn named(
        &mut self,
        place: &Place,
        description: Option<String>,
        kind: Kind,
    ) -> Shape {
        let id = self.start_type(place);
        self.finish_type(id, description, kind)
    }
}
