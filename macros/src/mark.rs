//! `#[tool]`, `#[prompt]` and `#[resource]` where no `#[mcp_tool]` has read them, or could.

use proc_macro2::{Group, TokenStream, TokenTree};
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

/// The attributes that `#[mcp_tool]` reads.
const OURS: [&str; 4] = ["tool", "prompt", "resource", "arg"];

/// An item that could not be read, without our attributes, so that they bring no errors beside that.
pub(crate) fn unmarked(item: &TokenStream) -> TokenStream {
    let mut kept: Vec<TokenTree> = Vec::new();
    for token in item.clone() {
        let TokenTree::Group(group) = token else {
            kept.push(token);
            continue;
        };
        let first = group.stream().into_iter().next().map(|it| it.to_string());
        let is_ours = first.is_some_and(|first| OURS.contains(&&*first));
        match kept.last() {
            Some(TokenTree::Punct(hash)) if hash.as_char() == '#' && is_ours => drop(kept.pop()),
            _ => {
                let mut inner = Group::new(group.delimiter(), unmarked(&group.stream()));
                inner.set_span(group.span());
                kept.push(inner.into());
            }
        }
    }
    kept.into_iter().collect()
}
