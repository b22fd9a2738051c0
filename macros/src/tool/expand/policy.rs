//! The timeout and the concurrency limit of a tool.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

use crate::args::Attr;
use crate::tool::model::Tool;

/// Expands to
/// ```text
/// .timeout({ let value: ::core::time::Duration = …; value })
/// .max_concurrency({ let value: ::core::primitive::usize = …; value })
/// ```
/// The annotated locals make a value of another type an error at the value.
pub(super) fn policy(tool: &Tool) -> TokenStream {
    let timeout = tool.timeout.iter().map(|Attr { value, .. }| {
        let value =
            quote_spanned!(value.span()=> { let value: ::core::time::Duration = #value; value });
        quote!(.timeout(#value))
    });
    let max_concurrency = tool.max_concurrency.iter().map(|Attr { value, .. }| {
        let value =
            quote_spanned!(value.span()=> { let value: ::core::primitive::usize = #value; value });
        quote!(.max_concurrency(#value))
    });
    quote!(#(#timeout)* #(#max_concurrency)*)
}
