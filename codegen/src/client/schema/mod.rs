//! From JSON Schema to shapes that Rust has.
//!
//! Every schema has one: what Rust cannot say is any JSON, with the reason. A shape takes all values that its schema takes,
//! and may take more; what it does not check is said in the documentation.

mod bounds;
mod copy;
mod object;
mod pointer;
mod reader;
mod shape;
mod types;
mod union;
mod unite;
mod values;

pub(super) use self::object::MOST_FIELDS;
pub(super) use self::reader::Reader;
pub(super) use self::shape::{Alternative, Field, Kind, Literal, Record, Shape, Tag, TypeId};
pub(super) use self::types::Types;
