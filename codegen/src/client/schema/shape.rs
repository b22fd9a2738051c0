//! Shapes of values.

use std::collections::BTreeSet;

use serde_json::Value;

/// What a value looks like.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::client) enum Shape {
    /// Any JSON, and why it is not known better, if that is not what the schema says.
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

/// Which of the named types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::client) struct TypeId(pub usize);

/// A type with a name.
#[derive(Debug)]
pub(in crate::client) struct Type {
    /// What it would be called if no other type were.
    pub wanted: String,
    /// What it is called where it stands, if it is a part of something.
    pub local: Option<String>,
    /// Whether several places have it.
    pub is_shared: bool,
    pub description: Option<String>,
    pub kind: Kind,
}

#[derive(Debug)]
pub(in crate::client) enum Kind {
    Record(Record),
    Choice(Vec<Literal>),
    Union {
        tag: Option<Tag>,
        alternatives: Vec<Alternative>,
    },
    /// What has a name only because it refers to itself.
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
    /// What other members look like, if the schema says something of them.
    pub rest: Option<Shape>,
    /// What is said of it beside the description.
    pub note: Option<String>,
}

#[derive(Debug)]
pub(in crate::client) struct Field {
    /// Its name in JSON.
    pub member: String,
    pub shape: Shape,
    pub required: bool,
    pub description: Option<String>,
    /// What the type does not say.
    pub notes: Vec<String>,
}

/// One of some constants.
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

/// The member that tells alternatives apart, and its values for each of them, in their order.
#[derive(Debug)]
pub(in crate::client) struct Tag {
    pub member: String,
    pub values: Vec<Vec<String>>,
}

impl Shape {
    pub(in crate::client) fn any(reason: impl Into<String>) -> Self {
        Self::Any(Some(reason.into()))
    }

    /// The type with a name that it is.
    pub(in crate::client) fn id(&self) -> Option<TypeId> {
        match self {
            Self::Named(id) => Some(*id),
            _ => None,
        }
    }

    /// The number of shapes that it is made of, each type with a name being one.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::List(item) | Self::Map(item) | Self::Nullable(item) => 1 + item.size(),
            Self::Tuple(items) => 1 + items.iter().map(Self::size).sum::<usize>(),
            _ => 1,
        }
    }

    /// This, or null.
    pub(super) fn or_null(self) -> Self {
        match self {
            Self::Any(_) | Self::Unit | Self::Nullable(_) => self,
            shape => Self::Nullable(Box::new(shape)),
        }
    }

    /// Calls `visit` with each named type in it; with `true` if a value of this shape has one inside itself, and not behind
    /// a list or a map.
    pub(in crate::client) fn each_type(
        &self,
        is_inside: bool,
        visit: &mut dyn FnMut(TypeId, bool),
    ) {
        match self {
            Self::Named(id) => visit(*id, is_inside),
            Self::List(item) | Self::Map(item) => item.each_type(false, visit),
            Self::Nullable(shape) => shape.each_type(is_inside, visit),
            Self::Tuple(items) => items
                .iter()
                .for_each(|item| item.each_type(is_inside, visit)),
            _ => {}
        }
    }
}

impl Shape {
    /// Refers to other types.
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
    /// Refers to other types.
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

    /// The shapes that it is made of.
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

    /// The shapes that it has behind a map.
    pub(in crate::client) fn rest(&self) -> Option<&Shape> {
        match self {
            Self::Record(record) => record.rest.as_ref(),
            _ => None,
        }
    }

    /// The texts that it may be, if it is one of some texts.
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

impl Record {
    pub(super) fn field(&self, member: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.member == member)
    }

    pub(super) fn required(&self) -> impl Iterator<Item = &Field> {
        self.fields.iter().filter(|field| field.required)
    }
}
