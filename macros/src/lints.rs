//! Lint levels of the user's items, which apply to the code generated from them too.

use syn::{AttrStyle, Attribute, Meta, parse_quote};

use crate::cfg_attr;

/// Returns the lint levels among the attributes of an item, for the code generated from it.
///
/// An `expect` becomes an `allow`, since its lint may concern the item alone. `forbid` is omitted, since generated code has levels of
/// its own.
pub(crate) fn levels(attributes: &[Attribute]) -> Vec<Attribute> {
    cfg_attr::picked(attributes, |mut attribute| {
        let is = |level| attribute.path().is_ident(level);
        let is_level = ["allow", "expect", "warn", "deny"].into_iter().any(is);
        match &attribute.meta {
            Meta::List(list) if is("expect") => {
                let lints = &list.tokens;
                Some(parse_quote!(#[allow(#lints)]))
            }
            _ => {
                attribute.style = AttrStyle::Outer;
                is_level.then_some(attribute)
            }
        }
    })
}

/// Returns the lint levels of a type or a trait, which generated code may name although it is deprecated.
pub(crate) fn levels_beside(attributes: &[Attribute]) -> Vec<Attribute> {
    let mut levels = levels(attributes);
    if cfg_attr::first(attributes, "deprecated").is_some() {
        levels.push(parse_quote! {
            #[allow(deprecated, reason = "generated code is part of the deprecated item")]
        });
    }
    levels
}
