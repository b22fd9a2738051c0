//! The ways in which a type can be an output; one of them is inferred for each type.

use std::marker::PhantomData;

/// A value that is written as JSON.
#[derive(Debug)]
pub enum Json {}

/// What the protocol itself has for it: content blocks, contents of a resource, a whole result.
#[derive(Debug)]
pub enum Content {}

/// A `Result` whose value is of the kind `K`.
#[derive(Debug)]
pub struct Fallible<K>(PhantomData<K>);

/// A value that is there.
#[derive(Debug)]
pub enum Now {}

/// A future of a value.
#[derive(Debug)]
pub enum Later {}

/// A kind as a value, which tells it to type inference.
#[derive(Debug)]
pub struct Kind<K>(PhantomData<K>);

impl<K> Kind<K> {
    /// The kind that fits, wherever one alone does.
    pub fn any() -> Self {
        Self(PhantomData)
    }
}

/// The return type of a function.
///
/// `Returns::<T>::kind()` tells what must be known of the way in which `T` is written. A `Result` is always a success or
/// a failure: it has an associated function of its own, which Rust prefers to the one of [`ReturnsValue`]. Without that,
/// a `Result` whose error has a schema too, such as `Result<i64, String>`, could also be a value.
#[derive(Debug)]
pub struct Returns<T>(PhantomData<T>);

impl<T> Returns<T> {
    /// The type as a value.
    pub(crate) fn ty() -> Self {
        Self(PhantomData)
    }
}

impl<T, E> Returns<Result<T, E>> {
    /// A success or a failure.
    pub fn kind<K>() -> Kind<Fallible<K>> {
        Kind::any()
    }

    /// An item that is a success or a failure.
    pub fn item_kind<K>(&self) -> Kind<Fallible<K>> {
        Kind::any()
    }
}

/// Return types other than `Result`.
pub trait ReturnsValue {
    /// The one kind that fits.
    fn kind<K>() -> Kind<K> {
        Kind::any()
    }

    /// The one kind that fits an item.
    fn item_kind<K>(&self) -> Kind<K> {
        Kind::any()
    }
}

impl<T> ReturnsValue for Returns<T> {}
