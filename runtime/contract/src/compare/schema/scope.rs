//! Parts of the schema of one value: the branches of its choices, and the schemas that it refers to.

use std::cell::OnceCell;
use std::rc::Rc;

use crate::compare::schema::Direction;
use crate::compare::schema::normalize::Node;
use crate::compare::schema::path::Position;
use crate::compare::schema::walk::{Pair, Walk};

/// The value whose schemas are compared.
pub(super) struct Scope<'a> {
    /// The recorded schema with all parts that apply to the value.
    pub(super) value: Node<'a>,
    /// The choices around the current part, each with the address of the branch that contains it.
    pub(super) choices: Vec<(Rc<Choice<'a>>, usize)>,
}

/// Recorded branches of a choice.
pub(super) struct Choice<'a> {
    pub(super) nodes: Vec<Node<'a>>,
    /// Is `true` if no value matches two of them.
    pub(super) is_disjoint: OnceCell<bool>,
}

impl<'a> Scope<'a> {
    pub(super) fn of(value: Node<'a>) -> Self {
        Self {
            value,
            choices: Vec::new(),
        }
    }
}

impl<'a> Choice<'a> {
    pub(super) fn of(nodes: &[Node<'a>]) -> Rc<Self> {
        Rc::new(Self {
            nodes: nodes.to_vec(),
            is_disjoint: OnceCell::new(),
        })
    }
}

impl<'a> Walk<'_, 'a, '_, '_> {
    /// Compares the schemas of a value of its own, such as a member or an item.
    pub(super) fn compare(&mut self, old: Node<'a>, new: Node<'a>, at: Position<'_>) {
        if let Some((old, new)) = self.normalized_pair(old, new) {
            let outer = std::mem::replace(&mut self.scope, Scope::of(old.node));
            self.compare_normalized(&old, &new, at);
            self.scope = outer;
        }
    }

    /// Compares schemas that apply to the current value, beside others.
    pub(super) fn compare_parts(&mut self, old: Node<'a>, new: Node<'a>, at: Position<'_>) {
        if let Some((old, new)) = self.normalized_pair(old, new) {
            self.compare_normalized(&old, &new, at);
        }
    }

    /// Compares two branches of a choice.
    pub(super) fn compare_chosen(
        &mut self,
        choice: &Rc<Choice<'a>>,
        (old, new): (Node<'a>, Node<'a>),
        at: Position<'_>,
    ) {
        self.scope.choices.push((Rc::clone(choice), old.address()));
        self.compare_parts(old, new, at);
        self.scope.choices.pop();
    }

    /// Returns `true` if parts that are already compared are parts of another value now, or of another branch of it. Only added
    /// arguments depend on the other parts of the value, so nothing else is reported again.
    pub(super) fn is_in_other_scope(&mut self, pair: Pair, direction: Direction) -> bool {
        let value = self.scope.value.address();
        if direction != Direction::Input || value == pair.0 || self.is_equivalent(pair) {
            return false;
        }
        let chosen = self.scope.choices.iter().map(|(_, chosen)| *chosen);
        self.compared_in.insert((pair, value, chosen.collect()))
    }
}
