//! Contracts are asynchronous without `#[async_trait]`.

use syn::{Attribute, Signature};

use crate::diag::Sink;
use crate::tool::model::extract;

/// Message about the attribute.
pub(crate) const REMOVE: &str = "contracts are asynchronous without `#[async_trait]`; remove it";

/// Reports and removes the attribute, if it is below ours.
pub(crate) fn reject(attributes: &mut Vec<Attribute>, sink: &mut Sink) {
    let is_async_trait = |attribute: &Attribute| {
        let last = attribute.path().segments.last();
        last.is_some_and(|last| last.ident == "async_trait")
    };
    for attribute in extract(attributes, is_async_trait) {
        sink.error(attribute.path(), REMOVE);
    }
}

/// Returns `true` if the attribute is above ours, so that it has rewritten the method.
pub(crate) fn has_expanded(signature: &Signature) -> bool {
    let mut lifetimes = signature.generics.lifetimes();
    lifetimes.any(|it| it.lifetime.ident == "async_trait")
}
