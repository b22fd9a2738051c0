//! Calls of tools whose types are known: what the clients of traits and of lock files are made of.

mod call;
mod read;

pub use self::call::{TypedCall, TypedCallFuture};
pub(in crate::client) use self::read::output_of;
