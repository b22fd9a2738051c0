//! Tests beyond `tests/ui`: several errors at once, and the remaining item after errors.

use proc_macro2::TokenStream;
use quote::quote;

use super::mcp_form;
use crate::diag::messages;

/// Returns the messages of the `compile_error!`s in an expansion.
fn errors(item: &TokenStream) -> Vec<String> {
    messages(mcp_form(quote!(), item))
}

#[test]
fn all_mistakes_are_reported_at_once() {
    let form = quote! {
        struct Booking<T> {
            #[field(titel = "Day", format = "dat")]
            day: T,
            #[field(name = "day", range = 1, length = 2)]
            end: T,
        }
    };
    let expected = [
        "unknown key `titel`; did you mean `title`?",
        "wrong value for key `range`; write a range, like `range = 1..=7`",
        "wrong value for key `length`; write a range, like `length = 1..=7`",
        "a form can't be generic; write concrete types",
        "another field is named `day`; rename one",
        "unknown format `dat`; did you mean `date`?",
    ];
    assert_eq!(errors(&form), expected);

    let choice = quote! {
        enum Room<T> {
            Shared(T),
            #[field(default)]
            #[field(name = "Shared")]
            Dormitory,
        }
    };
    let expected = [
        "unknown key `default`; write one of `name`, `title`",
        "a variant of a choice can't carry data; add a field to the form for it",
        "a choice can't be generic; write concrete types",
        "another variant is named `Shared`; rename one",
    ];
    assert_eq!(errors(&choice), expected);
}

#[test]
fn names_under_different_cfgs_may_be_the_same() {
    let form = quote! {
        struct Booking {
            #[cfg(unix)]
            day: String,
            #[cfg(windows)]
            #[field(name = "day")]
            date: String,
        }
    };
    assert_eq!(errors(&form), [""; 0]);
}

#[test]
fn foreign_attributes_are_errors_unless_a_derive_may_read_them() {
    let choice = quote! {
        #[serde(rename_all = "camelCase")]
        enum Room {
            #[serde(other)]
            #[arg(name = "own")]
            Single,
        }
    };
    let expected = [
        "a form takes `#[field(…)]` and does not use serde; write `#[field(name = \"…\")]` on each variant",
        "a form takes `#[field(…)]` and does not use serde; remove this",
        "a form takes `#[field(…)]`; write it in place of `#[arg(…)]`",
    ];
    assert_eq!(errors(&choice), expected);
    assert_eq!(errors(&quote!(#[derive(Debug)] #choice)), expected);
    let renamed = &expected[..1];
    let cfg = quote!(#[cfg_attr(a, derive(Deserialize))]);
    assert_eq!(errors(&quote!(#[derive(Deserialize)] #choice)), renamed);
    assert_eq!(errors(&quote!(#cfg #choice)), renamed);
    assert_eq!(errors(&quote!(#[mcp_type] #choice)), renamed);
    let named = quote! {
        #[serde(rename_all = "camelCase")]
        enum Room {
            #[field(name = "single")]
            #[serde(other)]
            Single,
        }
    };
    assert_eq!(errors(&quote!(#[derive(Deserialize)] #named)), [""; 0]);
    assert_eq!(errors(&quote!(#cfg #named)), [""; 0]);
}

#[test]
fn an_item_with_errors_loses_only_our_attributes() {
    let table = [
        (
            quote!(
                #[derive(Debug)]
                pub struct Booking(#[field(name = "a")] pub u8);
            ),
            quote!(
                #[derive(Debug)]
                pub struct Booking(pub u8);
            ),
        ),
        (
            quote!(
                enum Room {
                    #[field(nam = "a")]
                    Shared(#[field(title = "b")] u8),
                }
            ),
            quote!(
                enum Room {
                    Shared(u8),
                }
            ),
        ),
    ];
    for (item, kept) in table {
        let expansion = mcp_form(quote!(), &item).to_string();
        assert!(expansion.starts_with(&kept.to_string()), "{expansion}");
    }
}
