//! Conversion of JSON Schemas to shapes that Rust types can express.
//!
//! Every schema has a shape: an unsupported one becomes any JSON, with the reason. A shape accepts all values that its schema
//! accepts, and possibly more. The documentation describes the constraints that it does not check.

mod bounds;
mod conditional;
mod copy;
mod deduplicate;
mod exact;
mod member_docs;
mod merge_all_of;
mod object;
mod pointer;
mod reader;
mod shape;
mod types;
mod union;
mod values;

pub(super) use self::merge_all_of::is_without_members;
pub(super) use self::object::MAX_FIELDS;
pub(super) use self::reader::Reader;
pub(super) use self::shape::{
    Alternative, Field, Kind, Literal, Members, Record, Selection, Shape, Tag, TypeId,
};
pub(super) use self::types::Types;
