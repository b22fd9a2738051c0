//! Order of the variants of an enum without data.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{Attribute, ItemEnum, Meta, parse_quote};

use super::attributes::{has_ident, has_key, is_one_of};

/// Keeps the order of the variants in the schema of an enum without data.
///
/// schemars lists variants without attributes in one `enum`, in front of an alternative for each of the others. If there are both,
/// an attribute without effect makes each variant an alternative:
/// ```text
/// #[schemars(extend("type" = "string"))]
/// Low,
/// /// Two people
/// Medium,
/// ```
pub(super) fn keep_order(item: TokenStream) -> TokenStream {
    if !has_ident(item.clone(), &|name| name == "enum") {
        return item;
    }
    match syn::parse2::<ItemEnum>(item.clone()) {
        Ok(mut parsed) if is_plain(&parsed) => {
            for variant in &mut parsed.variants {
                if !has_own_alternative(&variant.attrs) {
                    let mark = parse_quote!(#[schemars(extend("type" = "string"))]);
                    variant.attrs.push(mark);
                }
            }
            parsed.to_token_stream()
        }
        _ => item,
    }
}

/// Returns `true` for an enum that is written as strings, and has variants of both sorts.
fn is_plain(item: &ItemEnum) -> bool {
    let mut variants = item.variants.iter();
    let are_units = variants.all(|variant| {
        variant.fields.is_empty() && !has_key(&variant.attrs, &["untagged", "with"])
    });
    let mut sorts = item
        .variants
        .iter()
        .map(|it| has_own_alternative(&it.attrs));
    let first = sorts.next();
    are_units
        && !has_key(&item.attrs, &["tag", "untagged"])
        && sorts.any(|sort| Some(sort) != first)
}

/// Keys of `schemars` that it reads in place of those of serde. They do not describe the variant.
const OF_SERDE: [&str; 6] = [
    "bound",
    "rename",
    "skip",
    "skip_deserializing",
    "skip_serializing",
    "untagged",
];

/// Returns `true` if schemars writes an alternative for a variant with these attributes.
fn has_own_alternative(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        // `#[doc(hidden)]` is no description.
        Meta::NameValue(_) => is_one_of(attribute, &["doc"]),
        Meta::List(list) if is_one_of(attribute, &["schemars"]) => {
            !has_ident(list.tokens.clone(), &|name| OF_SERDE.contains(&name))
        }
        _ => false,
    }) || attributes.iter().any(|it| is_one_of(it, &["deprecated"]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_variants_are_alternatives_if_one_is() {
        let mark = "#[schemars(extend(\"type\" = \"string\"))] ";
        let mixed = |mark: &str| format!("enum A {{ {mark}B, #[doc = \"c\"] C, {mark}D }}");
        let unchanged = [
            "enum A { B, C }",
            "enum A { #[doc = \"b\"] B, #[doc = \"c\"] C }",
            "enum A { B(u8), #[doc = \"c\"] C, D }",
            "enum A { B, #[doc(hidden)] C, D }",
            "enum A { B, #[schemars(rename = \"c\")] C, D }",
            "#[serde(tag = \"kind\")] enum A { B, #[doc = \"c\"] C }",
            "struct A { b: u8 }",
        ];
        let unchanged = unchanged.map(|text| (text.to_owned(), text.to_owned()));
        for (given, expected) in [(mixed(""), mixed(mark))].into_iter().chain(unchanged) {
            let parse = |text: &str| text.parse::<TokenStream>().unwrap().to_string();
            let kept = keep_order(given.parse().unwrap());
            assert_eq!(kept.to_string(), parse(&expected));
        }
    }
}
