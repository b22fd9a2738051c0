//! Which types are written, how they are called, and where they need a box.

use std::collections::{BTreeMap, BTreeSet};

use crate::client::name::Names;
use crate::client::plan::{Call, Method, Plan};
use crate::client::schema::{Shape, TypeId, Types};

/// The types that something refers to, in the order in which they are written.
#[derive(Debug)]
pub(super) struct Named {
    pub order: Vec<TypeId>,
    names: BTreeMap<TypeId, String>,
    /// Types that have each other inside themselves have one number.
    circles: BTreeMap<TypeId, usize>,
}

impl Named {
    pub(super) fn of(plan: &Plan) -> Self {
        let mut order = Order::default();
        let roots = plan.methods.iter().flat_map(roots);
        let roots: Vec<&Shape> = roots.collect();
        for root in &roots {
            root.each_type(true, &mut |id, _| order.push(id));
        }
        // The types of arguments and outputs are named first, so that no part of another tool takes their names.
        let mut names = Names::of_types();
        let mut chosen = BTreeMap::new();
        let mut next = 0;
        let firsts = order.all.clone();
        for id in firsts {
            let wanted = &plan.types.get(id).wanted;
            let other = format!("{wanted}Type");
            chosen.insert(id, names.take(&[wanted.clone(), other], ""));
        }
        while let Some(&id) = order.all.get(next) {
            next += 1;
            let kind = &plan.types.get(id).kind;
            for shape in kind.shapes().into_iter().chain(kind.rest()) {
                shape.each_type(true, &mut |id, _| order.push(id));
            }
        }
        let order = order.all;
        // Then the types that several of them have, and those that only one has.
        for is_shared in [true, false] {
            for id in &order {
                let ty = plan.types.get(*id);
                if ty.is_shared == is_shared && !chosen.contains_key(id) {
                    let short = ty.local.clone().filter(|_| is_shared);
                    let wanted = [
                        short.unwrap_or_else(|| ty.wanted.clone()),
                        ty.wanted.clone(),
                    ];
                    chosen.insert(*id, names.take(&wanted, ""));
                }
            }
        }
        Self {
            names: chosen,
            circles: circles(&plan.types, &order),
            order,
        }
    }

    pub(super) fn name(&self, id: TypeId) -> &str {
        self.names.get(&id).map_or("Value", String::as_str)
    }

    /// Whether a value of `part`, which one of `whole` has inside itself, may have one of `whole` inside itself.
    pub(super) fn needs_box(&self, whole: TypeId, part: TypeId) -> bool {
        part == whole || self.circles.get(&part) == self.circles.get(&whole)
    }
}

/// The shapes of a method.
fn roots(method: &Method) -> Vec<&Shape> {
    let output = match &method.call {
        Call::Tool(output) => output.as_ref(),
        _ => None,
    };
    method.arguments.iter().chain(output).collect()
}

/// The types that a value of this one has inside itself.
fn inside(types: &Types, whole: TypeId) -> Vec<TypeId> {
    let mut found = Vec::new();
    for shape in types.get(whole).kind.shapes() {
        shape.each_type(true, &mut |part, is_inside| {
            if is_inside {
                found.push(part);
            }
        });
    }
    found
}

/// Types in the order in which they were found, each of them once.
#[derive(Debug, Default)]
struct Order {
    all: Vec<TypeId>,
    seen: BTreeSet<TypeId>,
}

impl Order {
    fn push(&mut self, id: TypeId) {
        if self.seen.insert(id) {
            self.all.push(id);
        }
    }
}

/// The circles of types that have each other inside themselves: two types are in one circle if they have the same number.
fn circles(types: &Types, order: &[TypeId]) -> BTreeMap<TypeId, usize> {
    let parts: BTreeMap<TypeId, Vec<TypeId>> =
        order.iter().map(|id| (*id, inside(types, *id))).collect();
    let mut wholes: BTreeMap<TypeId, Vec<TypeId>> = BTreeMap::new();
    for (whole, parts) in &parts {
        for part in parts {
            wholes.entry(*part).or_default().push(*whole);
        }
    }
    // Kosaraju's algorithm: those that end last are looked at first, the other way round.
    let mut seen = BTreeSet::new();
    let mut ended = Vec::new();
    for id in order {
        walk(&parts, *id, &mut seen, &mut ended);
    }
    let mut seen = BTreeSet::new();
    let mut circles = BTreeMap::new();
    for (number, id) in ended.into_iter().rev().enumerate() {
        let mut circle = Vec::new();
        walk(&wholes, id, &mut seen, &mut circle);
        circles.extend(circle.into_iter().map(|id| (id, number)));
    }
    circles
}

/// Follows what leads from one type to others, and adds each that is new once all that it leads to are there.
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
    // Without recursion, because there may be many of them one in the other.
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
