//! Selection, order and names of the types to render.

use std::collections::{BTreeMap, BTreeSet};

use super::constructor::Constructor;
use crate::client::name::Names;
use crate::client::plan::{Method, Plan};
use crate::client::schema::{Kind, Shape, TypeId};

/// The referenced types, in the order of the output.
#[derive(Debug)]
pub(super) struct Named {
    pub order: Vec<TypeId>,
    names: BTreeMap<TypeId, String>,
    /// The structs with the required members of a type.
    required: BTreeMap<TypeId, String>,
}

impl Named {
    pub(super) fn of(plan: &Plan) -> Self {
        let mut order = Order::default();
        let roots = plan.methods.iter().flat_map(roots);
        let roots: Vec<&Shape> = roots.collect();
        for root in &roots {
            root.visit_types(true, &mut |id, _| order.push(id));
        }
        // The types of arguments and outputs are named first, so that parts of other tools cannot take their names.
        let mut names = Names::of_types();
        let mut chosen = BTreeMap::new();
        let mut next = 0;
        let aliases = plan.types.aliases().keys().copied();
        let (parts, outputs): (Vec<_>, Vec<_>) =
            aliases.partition(|id| plan.types.get(*id).local.is_some());
        let firsts = order.all.clone();
        for id in firsts.into_iter().chain(outputs) {
            let wanted = &plan.types.get(id).wanted;
            let other = format!("{wanted}Type");
            chosen.insert(id, names.take(&[wanted.clone(), other], ""));
        }
        while let Some(&id) = order.all.get(next) {
            next += 1;
            let kind = &plan.types.get(id).kind;
            for shape in kind.shapes().into_iter().chain(kind.rest()) {
                shape.visit_types(true, &mut |id, _| order.push(id));
            }
        }
        let order = order.all;
        // Then the shared types, and last the others.
        for is_shared in [true, false] {
            for id in order.iter().chain(&parts) {
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
        // The name of a type must not depend on the form of the constructor of another.
        let mut required = BTreeMap::new();
        for (id, name) in &chosen {
            let form = match &plan.types.get(*id).kind {
                Kind::Record(record) => Constructor::of(&plan.types, record),
                _ => continue,
            };
            if form == Constructor::Required {
                required.insert(*id, names.take(&[format!("{name}Required")], ""));
            }
        }
        Self {
            names: chosen,
            required,
            order,
        }
    }

    pub(super) fn name(&self, id: TypeId) -> &str {
        self.names.get(&id).map_or("Value", String::as_str)
    }

    /// The name of the struct with the required members.
    pub(super) fn required(&self, id: TypeId) -> &str {
        self.required.get(&id).map_or("Value", String::as_str)
    }
}

/// The shapes of a method.
fn roots(method: &Method) -> Vec<&Shape> {
    method.arguments.iter().chain(method.output()).collect()
}

/// Set of types in the order of insertion.
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
