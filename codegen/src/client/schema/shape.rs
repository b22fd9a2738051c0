//! Shapes of values.

use std::collections::BTreeSet;

use serde_json::Value;

/// Shape of a value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::client) enum Shape {
    /// Any JSON, with the reason if the schema is more specific.
    Any(Option<String>),
    Unit,
    Bool,
    Integer,
    Unsigned,
    Number,
    Text,
    List(Box<Self>),
    Tuple(Vec<Self>),
    Map(Box<Self>),
    Nullable(Box<Self>),
    Named(TypeId),
}

/// Index of a named type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::client) struct TypeId(pub usize);

/// A named type.
#[derive(Debug)]
pub(in crate::client) struct Type {
    /// The preferred name.
    pub wanted: String,
    /// The name within the containing type, if there is one.
    pub local: Option<String>,
    /// Set if several places share it.
    pub is_shared: bool,
    pub description: Option<String>,
    pub kind: Kind,
}

#[derive(Debug)]
pub(in crate::client) enum Kind {
    Record(Record),
    Choice(Vec<Literal>),
    Union {
        selection: Selection,
        alternatives: Vec<Alternative>,
    },
    /// A type with a name only because it is recursive.
    Newtype(Shape),
    /// It is being read.
    Unknown,
    /// It is being merged: an object whose members are not known yet.
    Merging,
}

/// An object with known members.
#[derive(Debug, Default)]
pub(in crate::client) struct Record {
    pub fields: Vec<Field>,
    /// The shape of additional members, if there are any.
    pub rest: Option<Shape>,
    /// Set if the schema forbids members that it does not list.
    pub is_closed: bool,
    /// Set if the type is known to accept only objects that match the schema.
    pub is_exact: bool,
    /// A note in addition to the description.
    pub note: Option<String>,
}

#[derive(Debug)]
pub(in crate::client) struct Field {
    /// Its name in JSON.
    pub member: String,
    pub shape: Shape,
    pub required: bool,
    /// Set if null differs from a missing member, so that the field keeps both.
    pub keeps_null: bool,
    pub description: Option<String>,
    /// Notes about constraints that the type does not express.
    pub notes: Vec<String>,
}

/// A constant.
#[derive(Clone, Debug)]
pub(in crate::client) struct Literal {
    pub value: Value,
    pub description: Option<String>,
}

#[derive(Debug)]
pub(in crate::client) struct Alternative {
    pub name: String,
    pub shape: Shape,
}

/// Selection of the alternative of a value.
#[derive(Debug)]
pub(in crate::client) enum Selection {
    /// The first that accepts the value.
    First,
    /// The one with the value of the tag.
    Tag(Tag),
    /// The first with these members that accepts the value; for each alternative, in order.
    Members(Vec<Members>),
}

/// Members that a value must have, and those that it must not have.
#[derive(Clone, Debug, Default)]
pub(in crate::client) struct Members {
    pub present: Vec<String>,
    pub absent: Vec<String>,
}

/// The member that distinguishes alternatives, with its values for each of them, in order.
#[derive(Debug)]
pub(in crate::client) struct Tag {
    pub member: String,
    pub values: Vec<Vec<String>>,
}

impl Shape {
    pub(in crate::client) fn any(reason: impl Into<String>) -> Self {
        Self::Any(Some(reason.into()))
    }

    /// The id of a named type.
    pub(in crate::client) fn id(&self) -> Option<TypeId> {
        match self {
            Self::Named(id) => Some(*id),
            _ => None,
        }
    }

    /// The number of nested shapes, where each named type counts as one.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::List(item) | Self::Map(item) | Self::Nullable(item) => 1 + item.size(),
            Self::Tuple(items) => 1 + items.iter().map(Self::size).sum::<usize>(),
            _ => 1,
        }
    }

    /// Makes the shape nullable.
    pub(super) fn or_null(self) -> Self {
        match self {
            Self::Any(_) | Self::Unit | Self::Nullable(_) => self,
            shape => Self::Nullable(Box::new(shape)),
        }
    }

    /// Calls `visit` with each named type in it, and with `true` if it is contained without the indirection of a list or map.
    pub(in crate::client) fn visit_types(
        &self,
        is_inside: bool,
        visit: &mut dyn FnMut(TypeId, bool),
    ) {
        match self {
            Self::Named(id) => visit(*id, is_inside),
            Self::List(item) | Self::Map(item) => item.visit_types(false, visit),
            Self::Nullable(shape) => shape.visit_types(is_inside, visit),
            Self::Tuple(items) => items
                .iter()
                .for_each(|item| item.visit_types(is_inside, visit)),
            _ => {}
        }
    }
}

impl Shape {
    /// Replaces the referenced types.
    pub(in crate::client) fn refer(&mut self, to: &dyn Fn(TypeId) -> TypeId) {
        match self {
            Self::Named(id) => *id = to(*id),
            Self::List(item) | Self::Map(item) | Self::Nullable(item) => item.refer(to),
            Self::Tuple(items) => items.iter_mut().for_each(|item| item.refer(to)),
            _ => {}
        }
    }
}

impl Kind {
    /// Replaces the referenced types.
    pub(super) fn refer(&mut self, to: &dyn Fn(TypeId) -> TypeId) {
        match self {
            Self::Record(record) => {
                let fields = record.fields.iter_mut().map(|field| &mut field.shape);
                fields
                    .chain(&mut record.rest)
                    .for_each(|shape| shape.refer(to));
            }
            Self::Union { alternatives, .. } => {
                for one in alternatives {
                    one.shape.refer(to);
                }
            }
            Self::Newtype(shape) => shape.refer(to),
            Self::Choice(_) | Self::Unknown | Self::Merging => {}
        }
    }

    /// The contained shapes.
    pub(in crate::client) fn shapes(&self) -> Vec<&Shape> {
        match self {
            Self::Record(record) => {
                let fields = record.fields.iter().map(|field| &field.shape);
                fields.collect()
            }
            Self::Union { alternatives, .. } => alternatives.iter().map(|one| &one.shape).collect(),
            Self::Newtype(shape) => vec![shape],
            Self::Choice(_) | Self::Unknown | Self::Merging => Vec::new(),
        }
    }

    /// The types whose values are values of this type.
    pub(super) fn same_values(&self) -> Vec<TypeId> {
        let shapes = match self {
            Self::Union { .. } | Self::Newtype(_) => self.shapes(),
            _ => Vec::new(),
        };
        let shapes = shapes.into_iter().map(|shape| match shape {
            Shape::Nullable(inner) => inner,
            shape => shape,
        });
        shapes.filter_map(Shape::id).collect()
    }

    /// The shape of additional members.
    pub(in crate::client) fn rest(&self) -> Option<&Shape> {
        match self {
            Self::Record(record) => record.rest.as_ref(),
            _ => None,
        }
    }

    /// The allowed texts, if it is a choice of texts.
    pub(super) fn texts(&self) -> Option<BTreeSet<&str>> {
        match self {
            Self::Choice(literals) => literals
                .iter()
                .map(|literal| literal.value.as_str())
                .collect(),
            _ => None,
        }
    }
}

impl Members {
    pub(in crate::client) fn count(&self) -> usize {
        self.present.len() + self.absent.len()
    }
}

impl Record {
    pub(super) fn field(&self, member: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.member == member)
    }

    pub(super) fn required(&self) -> impl Iterator<Item = &Field> {
        self.fields.iter().filter(|field| field.required)
    }
}
