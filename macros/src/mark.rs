//! Handling of `#[tool]`, `#[prompt]` and `#[resource]` outside of an `#[mcp_tool]` impl block.

use proc_macro2::{Group, TokenStream, TokenTree};
use quote::{ToTokens, quote};

use crate::diag::Sink;

/// Expands to the item and an error that names the right place for the mark.
pub(crate) fn misplaced(mark: &str, item: &TokenStream) -> TokenStream {
    let mut sink = Sink::new();
    let on_function = match mark {
        "tool" => ", or on a function in place of this",
        _ => "",
    };
    let message = format!(
        "`#[{mark}]` marks a method of an `#[mcp_tool]` impl block; put `#[mcp_tool]` on the block{on_function}; \
         within a block, write `#[{mark}]` without a path"
    );
    sink.error(name(item), message);
    sink.finish(item, TokenStream::new, TokenStream::new)
}

/// The token after `fn`, or else the first token.
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

/// Attributes that `#[mcp_tool]` reads.
const OURS: [&str; 4] = ["tool", "prompt", "resource", "arg"];

/// Removes our attributes from an item that could not be parsed, so that they cause no further errors.
pub(crate) fn strip_marks(item: &TokenStream) -> TokenStream {
    let mut output: Vec<TokenTree> = Vec::new();
    for token in item.clone() {
        let TokenTree::Group(group) = token else {
            output.push(token);
            continue;
        };
        let first = group.stream().into_iter().next().map(|it| it.to_string());
        let is_ours = first.is_some_and(|first| OURS.contains(&&*first));
        match output.last() {
            Some(TokenTree::Punct(hash)) if hash.as_char() == '#' && is_ours => drop(output.pop()),
            _ => {
                let mut inner = Group::new(group.delimiter(), strip_marks(&group.stream()));
                inner.set_span(group.span());
                output.push(inner.into());
            }
        }
    }
    output.into_iter().collect()
}
