//! Combination of alternatives into one shape.

use super::distinction::{Ordered, are_distinguishable, keep_widest_number, order, rank, tag};
use super::{MAX_ALTERNATIVES, Matches, too_many};
use crate::client::schema::reader::{Place, Reader};
use crate::client::schema::shape::{
    Alternative, Field, Kind, Literal, Members, Record, Selection, Shape,
};
use crate::client::schema::values::unique;

/// Number of names of members in a selection that count as one part.
const NAMES_PER_PART: usize = 4;

impl Reader<'_> {
    /// Combines alternatives into one shape.
    pub(super) fn combine(
        &mut self,
        (alternatives, matches): (Vec<Alternative>, Matches),
        about: Option<String>,
        place: &Place,
    ) -> Shape {
        if place.is_too_deep() {
            return Shape::any("its alternatives are nested too deep");
        }
        if alternatives.len() > MAX_ALTERNATIVES {
            return Shape::any(too_many());
        }
        let mut is_nullable = false;
        let mut kept: Vec<Alternative> = Vec::new();
        for mut one in alternatives {
            match one.shape {
                Shape::Any(None) => return Shape::Any(None),
                Shape::Any(Some(reason)) => {
                    return Shape::any(format!("in one alternative, {reason}"));
                }
                Shape::Unit => is_nullable = true,
                Shape::Nullable(inner) => {
                    is_nullable = true;
                    one.shape = *inner;
                    kept.push(one);
                }
                _ => kept.push(one),
            }
        }
        if kept.is_empty() {
            return if is_nullable {
                Shape::Unit
            } else {
                Shape::any("no value matches the schema")
            };
        }
        let inner = if is_nullable {
            place.same()
        } else {
            place.clone()
        };
        let shape = self.combine_values((kept, matches), about, &inner);
        if is_nullable { shape.or_null() } else { shape }
    }

    fn combine_values(
        &mut self,
        (alternatives, matches): (Vec<Alternative>, Matches),
        about: Option<String>,
        place: &Place,
    ) -> Shape {
        let mut kept = without_repetitions(alternatives);
        let combined = self.combine_choices(&mut kept, about.as_ref(), place);
        keep_widest_number(&mut kept);
        if let Err(reason) = combined.and_then(|()| self.combine_lists(&mut kept, place)) {
            return Shape::any(reason);
        }
        let (records, others): (Vec<_>, Vec<_>) = kept
            .into_iter()
            .partition(|one| self.types.record(&one.shape).is_some());
        let is_map = |one: &Alternative| matches!(one.shape, Shape::Map(_));
        if others.iter().filter(|one| is_map(one)).count() + usize::from(!records.is_empty()) > 1 {
            return Shape::any("its alternatives cannot be distinguished");
        }
        if let Err(reason) = self.charge_comparisons(&records) {
            return Shape::any(reason);
        }
        let ordered = order(self.types, records, matches).unwrap_or_else(|records| {
            let place = if others.is_empty() {
                place.clone()
            } else {
                place.part("object")
            };
            let shape = self.merge(&records, about.clone(), &place);
            Ordered::only("Object", shape)
        });
        self.declare_union(ordered, others, about, place)
    }

    /// Charges the pairwise comparison of records.
    fn charge_comparisons(&self, records: &[Alternative]) -> Result<(), String> {
        let count = records.len();
        let records = records
            .iter()
            .filter_map(|one| self.types.record(&one.shape));
        let texts = |field: &Field| match self.types.kind(&field.shape) {
            Some(Kind::Choice(literals)) => 1 + literals.len(),
            _ => 1,
        };
        let fields = records.clone().flat_map(Record::required);
        let required: usize = fields.map(texts).sum();
        let all: usize = records.map(|record| record.fields.len()).sum();
        self.budget.charge_steps(all + required * count)
    }

    /// Declares the union of records and other alternatives. A single alternative needs none.
    fn declare_union(
        &mut self,
        ordered: Ordered,
        mut others: Vec<Alternative>,
        about: Option<String>,
        place: &Place,
    ) -> Shape {
        let selection = match self.selection(&ordered, &others) {
            Ok(selection) => selection,
            Err(reason) => return Shape::any(reason),
        };
        others.sort_by_key(|one| rank(self.types, &one.shape));
        others.extend(ordered.records);
        if others.len() == 1 {
            return others.remove(0).shape;
        }
        if !are_distinguishable(self.types, &others) {
            return Shape::any("its alternatives cannot be distinguished");
        }
        let kind = Kind::Union {
            selection,
            alternatives: others,
        };
        self.named(place, about, kind)
    }

    /// The selection of these records, and of other alternatives that precede them.
    fn selection(&self, records: &Ordered, others: &[Alternative]) -> Result<Selection, String> {
        if let Some(tag) = tag(self.types, &records.records).filter(|_| others.is_empty()) {
            return Ok(Selection::Tag(tag));
        }
        // Serde also reads constants from objects with one member, and records from lists.
        let is_map = |one: &Alternative| matches!(one.shape, Shape::Map(_));
        let has_objects = !records.records.is_empty() || others.iter().any(is_map);
        let is_confused = |one: &Alternative| {
            matches!(one.shape, Shape::List(_) | Shape::Tuple(_))
                || matches!(self.types.kind(&one.shape), Some(Kind::Choice(_)))
        };
        if records.members.is_empty() && !(has_objects && others.iter().any(is_confused)) {
            return Ok(Selection::First);
        }
        let names: usize = records.members.iter().map(Members::count).sum();
        self.budget.charge_parts(names / NAMES_PER_PART)?;
        let others = others.iter().map(|_| Members::default());
        let mut members: Vec<_> = others.chain(records.members.iter().cloned()).collect();
        if records.members.is_empty() {
            members.extend(records.records.iter().map(|_| Members::default()));
        }
        Ok(Selection::Members(members))
    }

    /// Merges all constants into one type.
    fn combine_choices(
        &mut self,
        kept: &mut Vec<Alternative>,
        about: Option<&String>,
        place: &Place,
    ) -> Result<(), String> {
        let choices: Vec<&Vec<Literal>> = kept
            .iter()
            .filter_map(|one| match self.types.kind(&one.shape) {
                Some(Kind::Choice(literals)) => Some(literals),
                _ => None,
            })
            .collect();
        let count = choices.len();
        if count < 2 {
            return Ok(());
        }
        let values = choices.iter().copied().flatten();
        self.budget
            .charge_copies(values.map(|literal| &literal.value))?;
        let literals = unique(choices.into_iter().flatten().cloned());
        kept.retain(|one| !matches!(self.types.kind(&one.shape), Some(Kind::Choice(_))));
        let place = if kept.is_empty() {
            place.clone()
        } else {
            place.part("known")
        };
        let shape = self.literals(literals, about.cloned(), &place);
        kept.insert(
            0,
            Alternative {
                name: "Known".to_owned(),
                shape,
            },
        );
        Ok(())
    }

    /// Merges lists into one list of alternatives.
    fn combine_lists(&mut self, kept: &mut Vec<Alternative>, place: &Place) -> Result<(), String> {
        let is_list = |one: &Alternative| matches!(one.shape, Shape::List(_) | Shape::Tuple(_));
        if kept.iter().filter(|one| is_list(one)).count() < 2 {
            return Ok(());
        }
        let (lists, others): (Vec<_>, Vec<_>) = std::mem::take(kept).into_iter().partition(is_list);
        *kept = others;
        let mut items = Vec::new();
        for list in lists {
            match list.shape {
                Shape::List(item) => items.extend(self.expand(Alternative {
                    name: list.name,
                    shape: *item,
                })),
                _ => return Err("its lists cannot be distinguished".to_owned()),
            }
        }
        let item = self.combine((items, Matches::Any), None, &place.item("Item"));
        kept.push(Alternative {
            name: "List".to_owned(),
            shape: Shape::List(Box::new(item)),
        });
        Ok(())
    }
}

/// Keeps the first of the alternatives with the same shape.
fn without_repetitions(alternatives: Vec<Alternative>) -> Vec<Alternative> {
    let mut kept: Vec<Alternative> = Vec::new();
    for one in alternatives {
        if !kept.iter().any(|other| other.shape == one.shape) {
            kept.push(one);
        }
    }
    kept
}
