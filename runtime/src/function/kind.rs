//! Markers for the kinds of output types. The macros infer the kind of each type.
//!
//! Compiler errors show the markers of the public traits, so their names are unique and exported.

use std::marker::PhantomData;

/// A value that is serialized as JSON.
#[derive(Debug)]
pub enum JsonOutput {}

/// A type of the protocol: content blocks, resource contents, or a complete result.
#[derive(Debug)]
pub enum ContentOutput {}

/// A value that is serialized as JSON, beside content blocks of its own.
#[derive(Debug)]
pub enum StructuredOutput {}

/// The JSON text of a complete result.
#[cfg(feature = "dynamic")]
#[derive(Debug)]
pub enum Raw {}

/// A `Result` whose success value has the kind `K`.
#[derive(Debug)]
pub struct FallibleOutput<K>(PhantomData<K>);

/// A value that is available immediately.
#[derive(Debug)]
pub enum Immediate {}

/// A future that resolves to a value.
#[derive(Debug)]
pub enum Deferred {}

/// A kind as a value, for type inference.
#[derive(Debug)]
pub struct Kind<K>(PhantomData<K>);

impl<K> Kind<K> {
    /// Returns the kind that inference selects.
    pub fn any() -> Self {
        Self(PhantomData)
    }
}

/// The return type of a function.
///
/// `Returns::<T>::__kind()` selects how a `T` is written. A `Result` is always a success or a failure, so it has an
/// inherent associated function, which Rust prefers to that of [`ReturnsValue`]. Otherwise a `Result` whose error has a
/// schema too, such as `Result<i64, String>`, would be ambiguous. The names of the functions start with `__`, since a trait that the
/// user implements for all types may have functions too.
#[derive(Debug)]
pub struct Returns<T>(PhantomData<T>);

impl<T> Returns<T> {
    /// Creates the marker of the type.
    pub(crate) fn ty() -> Self {
        Self(PhantomData)
    }
}

impl<T, E> Returns<Result<T, E>> {
    /// Returns the kind of a fallible output.
    pub fn __kind<K>() -> Kind<FallibleOutput<K>> {
        Kind::any()
    }

    /// Returns the kind of a fallible stream item.
    pub fn __item_kind<K>(&self) -> Kind<FallibleOutput<K>> {
        Kind::any()
    }
}

/// Return types other than `Result`.
pub trait ReturnsValue {
    /// Returns the kind that inference selects for the output.
    fn __kind<K>() -> Kind<K> {
        Kind::any()
    }

    /// Returns the kind that inference selects for a stream item.
    fn __item_kind<K>(&self) -> Kind<K> {
        Kind::any()
    }
}

impl<T> ReturnsValue for Returns<T> {}
