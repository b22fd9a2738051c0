//! Members that one part of a value's schema declares in addition, although another part already declares them.

use std::collections::{BTreeMap, HashSet};
use std::rc::Rc;

use crate::Severity;
use crate::compare::schema::Direction;
use crate::compare::schema::normalize::Node;
use crate::compare::schema::object_members::Member;
use crate::compare::schema::path::{Path, Position};
use crate::compare::schema::scope::Choice;
use crate::compare::schema::walk::Walk;

/// A member that a part declares in addition, with its new schema.
pub(super) struct AddedMember<'a> {
    name: &'a str,
    schema: Node<'a>,
}

impl<'a> AddedMember<'a> {
    /// Returns the member if its new schema may reject values that this part accepted.
    pub(super) fn of(name: &'a str, old: &Member<'a>, new: &Member<'a>) -> Option<Self> {
        let schema = new.declared.filter(|schema| !schema.allows_all())?;
        let is_added = !old.is_known() && !old.is_forbidden && new.is_known();
        is_added.then_some(Self { name, schema })
    }
}

impl<'a> Walk<'_, 'a, '_, '_> {
    /// Reports added arguments that another part of the recorded schema declares with a different schema. Programs may send
    /// them with values that the added schema rejects.
    pub(super) fn report_added_members(
        &mut self,
        added: &[AddedMember<'a>],
        properties: Path<'_>,
        at: Position<'_>,
    ) {
        if added.is_empty() || at.direction != Direction::Input || self.is_probing() {
            return;
        }
        let declared = self.scope_members();
        for member in added {
            let Some(schemas) = declared.get(member.name) else {
                continue;
            };
            let at = at.descend(properties.key(member.name));
            let mut schemas = schemas.iter();
            // `required` alone allows every value.
            let is_same = schemas.len() > 0
                && schemas.all(|schema| self.are_equivalent(*schema, member.schema, at));
            if !is_same && self.narrowed.insert(member.schema.address()) {
                let path = at.path.render(self.entry.limits().text_bytes);
                let message = "was declared in another part of the schema, and may now allow less";
                self.entry.report(Severity::Breaking, &path, message);
            }
        }
    }

    /// Returns the members that the recorded schema of the current value declares, without those of excluded alternatives.
    fn scope_members(&mut self) -> BTreeMap<&'a str, Vec<Node<'a>>> {
        let choices: Vec<(Rc<Choice<'a>>, usize)> = self.scope.choices.clone();
        let mut excluded = HashSet::new();
        for (choice, chosen) in choices {
            let is_disjoint = match choice.is_disjoint.get() {
                Some(is_disjoint) => *is_disjoint,
                None => self.are_disjoint(self.old, &choice.nodes),
            };
            if *choice.is_disjoint.get_or_init(|| is_disjoint) {
                self.take_steps(choice.nodes.len() / 8);
                let others = choice.nodes.iter().map(|node| node.address());
                excluded.extend(others.filter(|other| *other != chosen));
            }
        }
        self.declared_members(self.old, &[self.scope.value], excluded)
    }
}
