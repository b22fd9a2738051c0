//! Typed tool calls, the building blocks of the clients generated from traits and lock files.
//!
//! `call` and `stream` are the return types of their methods. `decode` and `remainder` read results, `progress_items`
//! buffers the items that arrive before the result. `namespace` is the content of a trait's client, `mock` that of its
//! mock.

mod call;
mod decode;
mod mock;
mod namespace;
mod options;
mod progress_items;
mod remainder;
mod result_reader;
mod stream;

pub use self::call::{TypedCall, TypedCallFuture};
pub use self::mock::{
    ClientOf, MockCall, MockCalls, MockStream, Mocked, connect, fail_without_answer,
    missing_answer, panic_without_answer,
};
pub use self::namespace::{NamespacedClient, describe_trait};
pub use self::result_reader::{ResultReader, Started};
pub use self::stream::TypedStream;
