//! Attributes of an item and its members.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Attribute, Item};

/// Runs `change` on the attributes of the item, its variants and its fields.
pub(super) fn attributes(item: &mut Item, mut change: impl FnMut(&mut Vec<Attribute>)) {
    match item {
        Item::Struct(item) => {
            change(&mut item.attrs);
            item.fields
                .iter_mut()
                .for_each(|field| change(&mut field.attrs));
        }
        Item::Enum(item) => {
            change(&mut item.attrs);
            for variant in &mut item.variants {
                change(&mut variant.attrs);
                variant
                    .fields
                    .iter_mut()
                    .for_each(|field| change(&mut field.attrs));
            }
        }
        _ => {}
    }
}

/// Returns the attributes of the item itself.
pub(super) fn own(item: &Item) -> &[Attribute] {
    match item {
        Item::Struct(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        _ => &[],
    }
}

/// Returns `true` for an attribute that our derives read.
pub(super) fn is_of_derives(attribute: &Attribute) -> bool {
    is_one_of(attribute, &["schemars", "serde"])
}

pub(crate) fn is_one_of(attribute: &Attribute, names: &[&str]) -> bool {
    names.iter().any(|name| attribute.path().is_ident(name))
}

/// Returns `true` if an attribute of serde has one of the keys.
pub(super) fn has_key(attributes: &[Attribute], keys: &[&str]) -> bool {
    let mut of_serde = attributes.iter().filter(|it| is_one_of(it, &["serde"]));
    of_serde.any(|it| has_ident(it.meta.to_token_stream(), &|name| keys.contains(&name)))
}

/// Returns whether any identifier satisfies `wanted`.
pub(crate) fn has_ident(tokens: TokenStream, wanted: &dyn Fn(&str) -> bool) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => wanted(&ident.to_string()),
        TokenTree::Group(group) => has_ident(group.stream(), wanted),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}
