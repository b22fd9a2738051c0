//! Calls of tools whose types are known: what the clients of traits and of lock files are made of.
//!
//! `call` and `stream` are what their methods return, `read` and `rest` how results are read, `live` what comes before
//! the result. `scope` is what is inside of a trait's client, `mock` what is inside of its mock.

mod call;
mod live;
mod mock;
mod read;
mod rest;
mod scope;
mod stream;

pub use self::call::{TypedCall, TypedCallFuture};
pub use self::mock::{
    ClientOf, MockCall, MockCalls, MockStream, Mocked, connect, missing, mocked, unanswered,
};
pub(in crate::client) use self::read::decode_output;
pub use self::scope::{Scope, described};
pub use self::stream::TypedStream;
