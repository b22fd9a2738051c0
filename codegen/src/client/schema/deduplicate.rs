//! Merging of identical types.

use std::collections::{BTreeMap, BTreeSet};

use super::reader::MAX_DEPTH;
use super::shape::{Kind, Shape, TypeId};
use super::types::Types;

/// Maximum number of bytes compared to find identical types. Beyond it, each place has its own type.
const MAX_COMPARED_BYTES: usize = 32 << 20;

impl Types {
    /// Merges identical types, and returns the new id of each type.
    ///
    /// - Parts with the same local name, which becomes the name of the shared type.
    /// - Outputs and their items, and parts with the same description as one of them. The others become aliases, so that each keeps its name.
    ///
    /// The arguments of a method have their own type, because a later revision of the server extends them separately.
    pub(in crate::client) fn deduplicate(
        &mut self,
        arguments: &[&Shape],
        outputs: &[&Shape],
    ) -> Vec<TypeId> {
        // These only matter while schemas are read.
        for ty in &mut self.all {
            if let Kind::Record(record) = &mut ty.kind {
                (record.is_closed, record.is_exact) = (false, false);
            }
        }
        let roots = ids(outputs.iter().copied());
        let mut used = ids(arguments.iter().copied());
        used.extend(&roots);
        let mut merger = Merger {
            roots: roots
                .into_iter()
                .filter(|id| self.get(*id).local.is_none())
                .collect(),
            used: self.reachable(used),
            now: (0..self.all.len()).map(TypeId).collect(),
            left: MAX_COMPARED_BYTES,
        };
        // Each round merges types whose parts were merged in the previous round.
        for _ in 0..MAX_DEPTH {
            let found = merger.round(self);
            if found.is_empty() {
                break;
            }
            let to = |id: TypeId| found.get(&id).copied().unwrap_or(id);
            for id in merger.now.iter_mut().chain(self.aliases.values_mut()) {
                *id = to(*id);
            }
            for ty in &mut self.all {
                ty.kind.refer(&to);
            }
        }
        merger.now
    }

    /// The types that are reachable from some types.
    fn reachable(&self, from: BTreeSet<TypeId>) -> BTreeSet<TypeId> {
        let mut open: Vec<TypeId> = from.iter().copied().collect();
        let mut found = from;
        while let Some(id) = open.pop() {
            let kind = &self.get(id).kind;
            let parts = ids(kind.shapes().into_iter().chain(kind.rest()));
            open.extend(parts.into_iter().filter(|part| found.insert(*part)));
        }
        found
    }
}

/// The named types in shapes.
fn ids<'a>(shapes: impl Iterator<Item = &'a Shape>) -> BTreeSet<TypeId> {
    let mut found = BTreeSet::new();
    for shape in shapes {
        shape.visit_types(true, &mut |id, _| {
            found.insert(id);
        });
    }
    found
}

struct Merger {
    /// Outputs, and the items of outputs.
    roots: BTreeSet<TypeId>,
    /// Types that the program can name.
    used: BTreeSet<TypeId>,
    now: Vec<TypeId>,
    /// The bytes that may still be compared.
    left: usize,
}

impl Merger {
    /// Finds types that are the same as an earlier one, and returns them with that type.
    fn round(&mut self, types: &mut Types) -> BTreeMap<TypeId, TypeId> {
        let mut merged = BTreeMap::new();
        let mut aliases = BTreeMap::new();
        let mut roots: BTreeMap<String, TypeId> = BTreeMap::new();
        for &id in &self.roots {
            if self.now[id.0] != id {
                continue;
            }
            let kind = format!("{:?}", types.get(id).kind);
            self.left = self.left.saturating_sub(kind.len());
            if self.left == 0 {
                break;
            }
            let first = *roots.entry(kind).or_insert(id);
            if first != id {
                aliases.insert(id, first);
            }
        }
        // An enum converts from each alternative, so two of them cannot become the same type.
        let alternatives: BTreeSet<TypeId> =
            (types.all.iter().flat_map(|ty| ty.kind.same_values())).collect();
        let mut parts: BTreeMap<String, TypeId> = BTreeMap::new();
        for index in 0..types.all.len() {
            let (id, ty) = (TypeId(index), &types.all[index]);
            if ty.local.is_none() || self.now[index] != id {
                continue;
            }
            let kind = format!("{:?}", ty.kind);
            let key = format!("{:?} {:?} {kind}", ty.local, ty.description);
            self.left = self.left.saturating_sub(key.len());
            if self.left == 0 {
                break;
            }
            let first = *parts.entry(key).or_insert(id);
            if first != id {
                merged.insert(id, aliases.get(&first).copied().unwrap_or(first));
                types.get_mut(first).is_shared = true;
            } else if self.used.contains(&id) && !alternatives.contains(&id) {
                let root = roots.get(&kind).copied();
                let is_same = |root: &TypeId| types.get(*root).description == ty.description;
                aliases.extend(root.filter(is_same).map(|root| (id, root)));
            }
        }
        merged.extend(&aliases);
        types.aliases.extend(aliases);
        merged
    }
}
