//! What is asked for the calls of a tool.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

use crate::args::Given;
use crate::tool::model::Tool;

/// Expands to
/// ```text
/// .timeout({ let value: ::core::time::Duration = …; value })
/// .max_concurrency({ let value: ::core::primitive::usize = …; value })
/// ```
/// so that a value of another type is an error under it.
pub(super) fn policy(tool: &Tool) -> TokenStream {
    let timeout = tool.timeout.iter().map(|Given { value, .. }| {
        let value =
            quote_spanned!(value.span()=> { let value: ::core::time::Duration = #value; value });
        quote!(.timeout(#value))
    });
    let max_concurrency = tool.max_concurrency.iter().map(|Given { value, .. }| {
        let value =
            quote_spanned!(value.span()=> { let value: ::core::primitive::usize = #value; value });
        quote!(.max_concurrency(#value))
    });
    quote!(#(#timeout)* #(#max_concurrency)*)
}
