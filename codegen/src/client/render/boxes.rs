//! Boxes around parts of types, for types that contain themselves and for large ones.

use std::collections::{BTreeMap, BTreeSet};

use crate::client::schema::{Kind, Shape, TypeId, Types};

/// Maximum size in bytes of a part without a box.
const MAX_PART: usize = 512;
/// Maximum size in bytes of a type with parts without boxes.
const MAX_WHOLE: usize = 4096;
/// Size of a box, and of the discriminant of an enum.
const BOX: usize = 8;
/// Size of a map, a list and a text.
const MAP: usize = 24;

/// The parts of types that are in a box.
#[derive(Debug)]
pub(super) struct Boxes {
    /// Types in the same reference cycle have the same number.
    cycles: BTreeMap<TypeId, usize>,
    /// Estimated sizes in bytes.
    sizes: BTreeMap<TypeId, usize>,
    /// Types that would be too large if their parts were not in boxes.
    large: BTreeSet<TypeId>,
}

impl Boxes {
    pub(super) fn of(types: &Types, order: &[TypeId]) -> Self {
        let parts: BTreeMap<TypeId, Vec<TypeId>> =
            order.iter().map(|id| (*id, inside(types, *id))).collect();
        let mut seen = BTreeSet::new();
        let mut parts_first = Vec::new();
        for id in order {
            walk(&parts, *id, &mut seen, &mut parts_first);
        }
        let mut boxes = Self {
            cycles: cycles(&parts, &parts_first),
            sizes: BTreeMap::new(),
            large: BTreeSet::new(),
        };
        for id in parts_first {
            let kind = &types.get(id).kind;
            let mut size = boxes.size_of_type(id, kind);
            if size > MAX_WHOLE {
                boxes.large.insert(id);
                size = boxes.size_of_type(id, kind);
            }
            boxes.sizes.insert(id, size);
        }
        boxes
    }

    /// Returns `true` if `part`, which is contained in `whole`, can in turn contain `whole`, or is large.
    pub(super) fn needs_box(&self, whole: TypeId, part: TypeId) -> bool {
        let max = if self.large.contains(&whole) {
            BOX
        } else {
            MAX_PART
        };
        part == whole
            || self.cycles.get(&part) == self.cycles.get(&whole)
            || self.sizes.get(&part).is_some_and(|size| *size > max)
    }

    fn size_of_type(&self, id: TypeId, kind: &Kind) -> usize {
        let sizes = kind
            .shapes()
            .into_iter()
            .map(|shape| self.size_of_part(id, shape));
        if let Kind::Union { .. } = kind {
            return BOX + sizes.max().unwrap_or(0);
        }
        let rest = kind.rest().map_or(1, |_| MAP);
        sizes.fold(rest, usize::saturating_add)
    }

    /// The size of a part of a type.
    fn size_of_part(&self, whole: TypeId, shape: &Shape) -> usize {
        match shape {
            Shape::Unit | Shape::Bool => 1,
            Shape::Integer | Shape::Unsigned | Shape::Number => 16,
            Shape::Text | Shape::List(_) | Shape::Map(_) => MAP,
            Shape::Any(_) => 32,
            Shape::Nullable(inner) => self.size_of_part(whole, inner),
            Shape::Tuple(items) => {
                let sizes = items.iter().map(|item| self.size_of_part(whole, item));
                sizes.fold(0, usize::saturating_add)
            }
            Shape::Named(part) if self.needs_box(whole, *part) => BOX,
            Shape::Named(part) => self.sizes.get(part).copied().unwrap_or(BOX),
        }
    }
}

/// The types that a value of this type contains without indirection.
fn inside(types: &Types, whole: TypeId) -> Vec<TypeId> {
    let mut found = Vec::new();
    for shape in types.get(whole).kind.shapes() {
        shape.visit_types(true, &mut |part, is_inside| {
            if is_inside {
                found.push(part);
            }
        });
    }
    found
}

/// Finds the strongly connected components: two types are in the same cycle if they have the same number.
fn cycles(
    parts: &BTreeMap<TypeId, Vec<TypeId>>,
    parts_first: &[TypeId],
) -> BTreeMap<TypeId, usize> {
    let mut wholes: BTreeMap<TypeId, Vec<TypeId>> = BTreeMap::new();
    for (whole, parts) in parts {
        for part in parts {
            wholes.entry(*part).or_default().push(*whole);
        }
    }
    // Kosaraju's algorithm: the reversed graph is visited in reverse post-order.
    let mut seen = BTreeSet::new();
    let mut cycles = BTreeMap::new();
    for (number, id) in parts_first.iter().rev().enumerate() {
        let mut cycle = Vec::new();
        walk(&wholes, *id, &mut seen, &mut cycle);
        cycles.extend(cycle.into_iter().map(|id| (id, number)));
    }
    cycles
}

/// Adds the types reachable from `from` in post-order.
fn walk(
    edges: &BTreeMap<TypeId, Vec<TypeId>>,
    from: TypeId,
    seen: &mut BTreeSet<TypeId>,
    ended: &mut Vec<TypeId>,
) {
    let next = |id: TypeId| edges.get(&id).map_or(&[][..], Vec::as_slice).iter();
    if !seen.insert(from) {
        return;
    }
    // Without recursion, because the nesting can be deep.
    let mut open = vec![(from, next(from))];
    while let Some((id, rest)) = open.last_mut() {
        if let Some(part) = rest.find(|part| !seen.contains(part)) {
            seen.insert(*part);
            open.push((*part, next(*part)));
        } else {
            ended.push(*id);
            open.pop();
        }
    }
}
