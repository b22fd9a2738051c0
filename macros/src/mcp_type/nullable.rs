//! Fields of the type `Option<Option<T>>`, whose absence and `null` differ.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Attribute, Field, Fields, Item, parse_quote};

use super::attributes::{has_ident, has_key, own};
use super::checked::{outermost, parameters};
use super::path_text;
use crate::krate::Krate;

/// Keys of serde with which a field is read or written in another way, so that it is left as it is.
const OTHER_FORMS: [&str; 4] = ["flatten", "skip", "skip_deserializing", "skip_serializing"];

/// Adds attributes to each field of the type `Option<Option<T>>`: a missing one is `None`, and `null` is `Some(None)`.
///
/// Expands to
/// ```text
/// #[serde(default, skip_serializing_if = "::core::option::Option::is_none")]
/// #[serde(deserialize_with = "::treenail::__private_0_1_0::present")]
/// #[schemars(extend("x-treenail-null" = true))]
/// contact: Option<Option<String>>,
/// ```
/// without the keys that the user has written. In a generic type, the attributes also have the bound that serde infers for a field
/// without a function.
pub(super) fn declare(krate: &Krate, item: TokenStream) -> TokenStream {
    if !has_ident(item.clone(), &|name| name == "Option") {
        return item;
    }
    let Ok(mut parsed) = syn::parse2::<Item>(item.clone()) else {
        return item;
    };
    let container = own(&parsed).to_vec();
    if has_key(&container, &["transparent"]) {
        return item;
    }
    let has_default = has_key(&container, &["default"]);
    let is_generic = match &parsed {
        Item::Struct(item) => item.generics.type_params().next().is_some(),
        Item::Enum(item) => item.generics.type_params().next().is_some(),
        _ => false,
    };
    let mut count = 0;
    nullable_fields(&mut parsed, |field| {
        let added = added(krate, field, (has_default, is_generic));
        field.attrs.extend(added);
        count += 1;
    });
    if count > 0 {
        parsed.to_token_stream()
    } else {
        item
    }
}

fn added(krate: &Krate, field: &Field, (has_default, is_generic): (bool, bool)) -> Vec<Attribute> {
    let private = quote!(#krate::__private_0_1_0);
    let (given, ty) = (&field.attrs, &field.ty);
    let mut added: Vec<Attribute> =
        vec![parse_quote!(#[schemars(extend("x-treenail-null" = true))])];
    if !has_default && !has_key(given, &["default"]) {
        // With the key alone, serde requires a default of type parameters.
        let default = quote!(<#ty as ::core::default::Default>::default).to_string();
        added.push(if is_generic {
            parse_quote!(#[serde(default = #default)])
        } else {
            parse_quote!(#[serde(default)])
        });
    }
    if !has_key(given, &["deserialize_with", "with"]) {
        let present = path_text(&quote!(#private::present));
        added.push(parse_quote!(#[serde(deserialize_with = #present)]));
        if is_generic && !has_key(given, &["bound"]) {
            let inner = parameters(ty);
            let bound = quote!(#(#inner: #private::serde::Deserialize<'de>)*).to_string();
            added.push(parse_quote!(#[serde(bound(deserialize = #bound))]));
        }
    }
    if !has_key(given, &["skip_serializing_if"]) {
        added.push(parse_quote!(#[serde(skip_serializing_if = "::core::option::Option::is_none")]));
    }
    added
}

/// Runs `change` on the named fields of the type.
fn nullable_fields(item: &mut Item, mut change: impl FnMut(&mut Field)) {
    let mut change_all = |fields: &mut Fields| {
        let nullable = fields.iter_mut().filter(|field| {
            field.ident.is_some() && is_nullable(field) && !has_key(&field.attrs, &OTHER_FORMS)
        });
        nullable.for_each(&mut change);
    };
    match item {
        Item::Struct(item) => change_all(&mut item.fields),
        Item::Enum(item) => {
            let variants = item.variants.iter_mut();
            variants.for_each(|variant| change_all(&mut variant.fields));
        }
        _ => {}
    }
}

fn is_nullable(field: &Field) -> bool {
    let is_option = |ty| outermost(ty).is_some_and(|name| name == "Option");
    is_option(&field.ty) && parameters(&field.ty).any(is_option)
}

#[cfg(test)]
mod tests {
    use proc_macro2::{Delimiter, Group, TokenTree};

    use super::*;

    #[test]
    fn attributes_are_added_unless_the_user_has_written_them() {
        let all = "#[schemars(extend(\"x-treenail-null\" = true))] #[serde(default)] \
                   #[serde(deserialize_with = \"::treenail::__private_0_1_0::present\")] \
                   #[serde(skip_serializing_if = \"::core::option::Option::is_none\")] ";
        let bound = "Option < T > : :: treenail :: __private_0_1_0 :: serde :: Deserialize < 'de >";
        let own = "#[serde(default, deserialize_with = \"mine\", skip_serializing_if = \"f\")] ";
        let table = [
            (
                "struct A { a: Option<Option<u8>> }",
                format!("struct A {{ {all} a: Option<Option<u8>> }}"),
            ),
            (
                "enum A { B { a: std::option::Option<Option<u8>> } }",
                format!("enum A {{ B {{ {all} a: std::option::Option<Option<u8>> }} }}"),
            ),
            (
                &format!("struct A {{ {own} a: Option<Option<u8>> }}"),
                format!(
                    "struct A {{ {own} #[schemars(extend(\"x-treenail-null\" = true))] a: Option<Option<u8>> }}"
                ),
            ),
            (
                "struct A { a: Option<Vec<Option<u8>>> }",
                "struct A { a: Option<Vec<Option<u8>>> }".to_owned(),
            ),
            (
                "struct A { #[serde(skip)] a: Option<Option<u8>> }",
                "struct A { #[serde(skip)] a: Option<Option<u8>> }".to_owned(),
            ),
            (
                "struct A<T> { a: Option<Option<T>> }",
                format!(
                    "struct A<T> {{ {} a: Option<Option<T>> }}",
                    all.replace("default)", "default = \"< Option < Option < T > > as :: core :: default :: Default > :: default\")")
                        .replace("present\")]", &format!("present\")] #[serde(bound(deserialize = \"{bound}\"))]"))
                ),
            ),
            (
                "struct A(Option<Option<u8>>);",
                "struct A(Option<Option<u8>>);".to_owned(),
            ),
        ];
        for (given, expected) in table {
            let parse = |text: &str| text.parse::<TokenStream>().unwrap();
            let declared = declare(&Krate::new(None), parse(given));
            let text = |tokens: TokenStream| tokens.to_string().replace(' ', "");
            assert_eq!(text(declared), text(parse(&expected)));
        }
    }

    #[test]
    fn types_from_fragments_are_read_like_written_ones() {
        let group = |tokens| TokenTree::from(Group::new(Delimiter::None, tokens));
        let inner = group(quote!(Option<u8>));
        let ty = group(quote!(Option<#inner>));
        let declared = declare(&Krate::new(None), quote!(struct A { a: #ty })).to_string();
        assert!(declared.contains("x-treenail-null"), "{declared}");
    }
}
