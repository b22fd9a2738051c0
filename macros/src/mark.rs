//! `#[tool]`, `#[prompt]` and `#[resource]` where no `#[mcp_tool]` has read them.

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote};

use crate::diag::Sink;

/// The item, and an error that says where the mark belongs.
pub(crate) fn unread(mark: &str, item: &TokenStream) -> TokenStream {
    let mut sink = Sink::new();
    let on_function = match mark {
        "tool" => ", or on a function instead of this",
        _ => "",
    };
    let message = format!(
        "`#[{mark}]` marks a method of an `#[mcp_tool]` impl block; put that on the block{on_function}"
    );
    sink.error(name(item), message);
    sink.finish(item, TokenStream::new, TokenStream::new)
}

/// What comes after `fn`, or else the first token.
fn name(item: &TokenStream) -> TokenStream {
    let mut tokens = item.clone().into_iter();
    let is_fn = |token: &TokenTree| matches!(token, TokenTree::Ident(ident) if ident == "fn");
    let name = if tokens.any(|token| is_fn(&token)) {
        tokens.next()
    } else {
        item.clone().into_iter().next()
    };
    name.map_or_else(|| quote!(), TokenTree::into_token_stream)
}
