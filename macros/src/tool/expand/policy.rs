//! The timeout, the concurrency limit and the task support of a tool.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

use super::task::task;
use crate::args::Attr;
use crate::krate::Krate;
use crate::tool::model::Tool;

/// Expands to
/// ```text
/// .timeout({ let value: ::core::time::Duration = …; value })
/// .max_concurrency({ let value: ::core::primitive::usize = …; value })
/// ```
/// followed by the [task support](task). The annotated locals make a value of another type an error at the value.
pub(super) fn policy(krate: &Krate, tool: &Tool) -> TokenStream {
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
    let task = task(krate, tool);
    quote!(#(#timeout)* #(#max_concurrency)* #task)
}
