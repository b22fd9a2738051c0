//! Which types are written, how they are called, and where they need a box.

use std::collections::{BTreeMap, BTreeSet};

use crate::client::name::Names;
use crate::client::plan::{Call, Method, Plan};
use crate::client::schema::{Kind, Shape, TypeId, Types};

/// The types that something refers to, in the order in which they are written.
#[derive(Debug)]
pub(super) struct Named {
    pub order: Vec<TypeId>,
    names: BTreeMap<TypeId, String>,
    /// The types that a value has inside itself, directly or not.
    inside: BTreeMap<TypeId, BTreeSet<TypeId>>,
}

impl Named {
    pub(super) fn of(plan: &Plan) -> Self {
        let mut order = Vec::new();
        let roots = plan.methods.iter().flat_map(roots);
        let roots: Vec<&Shape> = roots.collect();
        for root in &roots {
            root.each_type(true, &mut |id, _| push(&mut order, id));
        }
        // The types of arguments and outputs are named first, so that no part of another tool takes their names.
        let mut names = Names::of_types();
        let mut chosen = BTreeMap::new();
        let mut next = 0;
        let firsts = order.clone();
        for id in firsts {
            let wanted = &plan.types.get(id).wanted;
            let other = format!("{wanted}Type");
            chosen.insert(id, names.take(&[wanted.clone(), other], ""));
        }
        while let Some(&id) = order.get(next) {
            next += 1;
            let kind = &plan.types.get(id).kind;
            for shape in kind.shapes().into_iter().chain(kind.rest()) {
                shape.each_type(true, &mut |id, _| push(&mut order, id));
            }
        }
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
        let inside = order
            .iter()
            .map(|id| (*id, inside(&plan.types, *id)))
            .collect();
        Self {
            order,
            names: chosen,
            inside,
        }
    }

    pub(super) fn name(&self, id: TypeId) -> &str {
        self.names.get(&id).map_or("Value", String::as_str)
    }

    /// Whether a value of `part` inside of one of `whole` may have one of `whole` inside itself.
    pub(super) fn needs_box(&self, whole: TypeId, part: TypeId) -> bool {
        part == whole
            || self
                .inside
                .get(&part)
                .is_some_and(|inside| inside.contains(&whole))
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

fn push(order: &mut Vec<TypeId>, id: TypeId) {
    if !order.contains(&id) {
        order.push(id);
    }
}

fn inside(types: &Types, whole: TypeId) -> BTreeSet<TypeId> {
    let mut found = BTreeSet::new();
    let mut open = vec![whole];
    while let Some(id) = open.pop() {
        let kind: &Kind = &types.get(id).kind;
        for shape in kind.shapes() {
            shape.each_type(true, &mut |part, is_inside| {
                if is_inside && found.insert(part) {
                    open.push(part);
                }
            });
        }
    }
    found
}
