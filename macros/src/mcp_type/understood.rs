//! Items that can be derived from copies: all that changes their meaning is known.

use quote::ToTokens;
use syn::punctuated::Punctuated;
use syn::{Attribute, Item, Path, Token};

use super::attributes::{attributes, has_ident, is_of_derives, is_one_of, own};

/// Attributes of items with which the derives see the whole meaning of the item.
const UNDERSTOOD: [&str; 12] = [
    "allow",
    "cfg",
    "deny",
    "deprecated",
    "derive",
    "doc",
    "expect",
    "must_use",
    "non_exhaustive",
    "schemars",
    "serde",
    "warn",
];

/// Derives of the standard library, which ignore the attributes of serde and schemars.
const STANDARD: [&str; 9] = [
    "Clone",
    "Copy",
    "Debug",
    "Default",
    "Eq",
    "Hash",
    "Ord",
    "PartialEq",
    "PartialOrd",
];

/// Keys of serde and schemars with which fields of an item need no traits, or others.
const OTHER_TRAITS: [&str; 6] = ["from", "into", "remote", "transparent", "try_from", "with"];

/// Returns `true` if copies of the item mean the same as the item, for our derives and those of the user.
pub(super) fn is_understood(item: &mut Item) -> bool {
    let is_generic = match item {
        Item::Struct(item) => !item.generics.params.is_empty(),
        Item::Enum(item) => !item.generics.params.is_empty(),
        _ => return false,
    };
    let own = own(item);
    let own_are = own.iter().all(|attribute| {
        let tokens = || attribute.meta.to_token_stream();
        is_one_of(attribute, &UNDERSTOOD)
            && (!is_of_derives(attribute)
                || !has_ident(tokens(), &|name| OTHER_TRAITS.contains(&name)))
    });
    let mut all_are = own_are && !is_generic;
    let has_other_derive = own.iter().any(derives_others);
    attributes(item, |attributes| {
        for attribute in attributes.iter() {
            all_are &= !is_one_of(attribute, &["cfg_attr", "garde", "validate"]);
            // The copy for the other derives has no attributes of serde and schemars, which they may read too.
            all_are &= !has_other_derive || !is_of_derives(attribute);
        }
    });
    all_are
}

/// Returns `true` for a `derive` with a trait outside of the standard library.
pub(crate) fn derives_others(attribute: &Attribute) -> bool {
    let parse = Punctuated::<Path, Token![,]>::parse_terminated;
    if !attribute.path().is_ident("derive") {
        return false;
    }
    let is_standard = |path: &Path| {
        let first = path.segments.first().map(|first| first.ident.to_string());
        let first = first.unwrap_or_default();
        let names: &[&str] = match path.segments.len() {
            1 => &STANDARD,
            _ => &["core", "std"],
        };
        names.contains(&&*first)
    };
    let paths = attribute.parse_args_with(parse);
    paths.is_ok_and(|paths| !paths.iter().all(is_standard))
}
