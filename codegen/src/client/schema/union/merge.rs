//! Merge of records that cannot be distinguished.

use std::collections::BTreeSet;

use super::Matches;
use super::name::name_of;
use crate::client::schema::object::MAX_FIELDS;
use crate::client::schema::reader::{Place, Reader};
use crate::client::schema::shape::{Alternative, Field, Kind, Record, Shape, TypeId};

impl Reader<'_> {
    /// Merges records that cannot be distinguished into one type with all members.
    pub(super) fn merge(
        &mut self,
        records: &[Alternative],
        about: Option<String>,
        place: &Place,
    ) -> Shape {
        let ids: BTreeSet<TypeId> = records.iter().filter_map(|one| one.shape.id()).collect();
        if let Some(id) = self.merged.get(&ids) {
            return Shape::Named(*id);
        }
        let (members, rest) = self.members(records);
        let is_closed = records
            .iter()
            .filter_map(|one| self.types.record(&one.shape))
            .all(|record| record.is_closed);
        if members.len() > MAX_FIELDS {
            return Shape::any(format!("there are more than {MAX_FIELDS} members"));
        }
        let looked_at = members.len() * records.len();
        let paid = self.budget.charge_parts(1 + members.len());
        if let Err(reason) = paid.and_then(|()| self.budget.charge_steps(looked_at)) {
            return Shape::any(reason);
        }
        let id = self.start_type(place);
        // Before the members, which can contain alternatives of the same types, and thus this type again.
        self.merged.insert(ids, id);
        self.mark_merging(id);
        let fields = members
            .into_iter()
            .map(|member| self.merge_field(member, records, place))
            .collect();
        let note = "It has one of several forms, which cannot be distinguished; the schema defines which members belong together.";
        let record = Record {
            fields,
            rest,
            is_closed,
            is_exact: false,
            note: Some(note.to_owned()),
        };
        self.finish_type(id, about, Kind::Record(record))
    }

    /// The distinct names of all members, and the shape of additional members, if they are allowed.
    fn members(&self, records: &[Alternative]) -> (Vec<String>, Option<Shape>) {
        let records = records.iter().map(|one| &one.shape);
        let (mut members, mut seen, mut rest) = (Vec::new(), BTreeSet::new(), None);
        for record in records.filter_map(|shape| self.types.record(shape)) {
            match &record.rest {
                None => {}
                // Any JSON with a reason, so that another merge knows that a form describes them.
                Some(described) if *described != Shape::Any(None) => {
                    let reason = "only some of its forms describe additional members";
                    rest = Some(Shape::any(reason));
                }
                Some(_) => rest = rest.or(Some(Shape::Any(None))),
            }
            let names = record.fields.iter().map(|field| &field.member);
            members.extend(names.filter(|name| seen.insert(*name)).cloned());
        }
        (members, rest)
    }

    fn merge_field(&mut self, member: String, records: &[Alternative], place: &Place) -> Field {
        let records: Vec<_> = records
            .iter()
            .filter_map(|one| self.types.record(&one.shape))
            .collect();
        let fields: Vec<_> = records
            .iter()
            .filter_map(|record| record.field(&member))
            .collect();
        let required = fields.len() == records.len() && fields.iter().all(|field| field.required);
        let keeps_null = fields.iter().any(|field| field.keeps_null);
        let description = fields.iter().find_map(|field| field.description.clone());
        // A note about one of the forms could be wrong for another.
        let first = fields.first().map(|field| field.notes.iter());
        let common = first.into_iter().flatten();
        let common = common.filter(|note| fields.iter().all(|field| field.notes.contains(note)));
        let notes = common.cloned().collect();
        // A form that describes its additional members allows the member with their shape.
        let shapes = records.iter().filter_map(|record| {
            let field = record.field(&member).map(|field| &field.shape);
            let rest = record.rest.as_ref();
            field.or(rest.filter(|rest| **rest != Shape::Any(None)))
        });
        let shapes: Vec<_> = shapes
            .map(|shape| Alternative {
                name: name_of(shape),
                shape: shape.clone(),
            })
            .collect();
        let shapes: Vec<_> = shapes
            .into_iter()
            .flat_map(|one| self.expand(one))
            .collect();
        let shape = self.combine((shapes, Matches::Any), None, &place.part(&member));
        Field {
            member,
            keeps_null: keeps_null && !required && matches!(shape, Shape::Nullable(_)),
            shape,
            required,
            description,
            notes,
        }
    }
}
