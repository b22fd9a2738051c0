//! `#[mcp_tool]`: turns functions into tools, prompts and resources.

pub(crate) mod parse;

pub(crate) mod model;

pub(crate) mod check;

pub(crate) mod expand;

#[cfg(test)]
mod tests;

use std::mem;

use proc_macro2::{Delimiter, Group, TokenStream};
use quote::quote;
use syn::FnArg;

use crate::args::Keys;
use crate::client;
use crate::diag::Sink;
use crate::krate::Krate;
use crate::mark::strip_marks;
use crate::signature::Function;

use self::model::{Block, Feature, Kind, TOOL_KEYS};
use self::parse::{ImplBlock, Item};

/// Expands `#[mcp_tool(args)] item`.
pub(crate) fn mcp_tool(args: TokenStream, item: &TokenStream) -> TokenStream {
    match syn::parse2(item.clone()) {
        Ok(Item::Function(item)) => function(args, item),
        Ok(Item::Block(item)) => block(args, item),
        Err(error) => {
            let stub = parse::head(item).map(|head| unparsed(args, &head));
            let (item, error) = (strip_marks(item), error.to_compile_error());
            quote!(#item #error #stub)
        }
    }
}

fn function(args: TokenStream, mut item: Function) -> TokenStream {
    let mut sink = Sink::new();
    sink.reject_duplicates("mcp_tool", &mut item.attributes);
    let known = [&TOOL_KEYS[..], &["crate", "namespace"]].concat();
    let mut keys = Keys::parse(args, &known, &mut sink);
    let krate = Krate::new(keys.path("crate", &mut sink));
    let namespace = keys.string("namespace", &mut sink);
    let kind = Kind::tool(&mut keys, &mut sink);
    let tool = Feature::read(&mut item, kind, &mut keys, &mut sink);
    check::function(&tool, namespace.as_ref(), &mut sink);
    if tool.signature.receiver().is_some() {
        return sink.finish(&without_self(item), TokenStream::new, TokenStream::new);
    }
    sink.finish(
        &item,
        || expand::function(&krate, &tool, &item.visibility),
        || {
            let is_hidden = check::is_primitive(&tool.signature.ident);
            let stub = (!is_hidden).then(|| expand::function_stub(&krate, &tool, &item.visibility));
            stub.unwrap_or_default()
        },
    )
}

/// Removes `self` and the body from a free function, so that rustc reports no further errors about `self`.
fn without_self(mut item: Function) -> TokenStream {
    let inputs = mem::take(&mut item.signature.inputs).into_iter();
    item.signature.inputs = inputs
        .filter(|input| matches!(input, FnArg::Typed(_)))
        .collect();
    item.body = Group::new(Delimiter::Brace, quote!(loop {}));
    quote!(#[allow(unused, reason = "the body is omitted")] #item)
}

/// Stub for a block with a syntax error in it.
fn unparsed(args: TokenStream, head: &ImplBlock) -> TokenStream {
    let mut sink = Sink::new();
    let mut keys = Keys::parse(args, &["namespace", "scope", "crate"], &mut sink);
    let krate = Krate::new(keys.path("crate", &mut sink));
    let stub = || expand::block_stub(&krate, head);
    sink.finish(&TokenStream::new(), stub, stub)
}

fn block(args: TokenStream, mut item: ImplBlock) -> TokenStream {
    let mut sink = Sink::new();
    sink.reject_duplicates("mcp_tool", &mut item.attributes);
    let mut keys = Keys::parse(args, &["namespace", "scope", "crate"], &mut sink);
    let krate = Krate::new(keys.path("crate", &mut sink));
    if item.of_trait.is_some() {
        return client::implement(&krate, keys, item, sink);
    }
    let block = Block::read(&mut item, &mut keys, &krate, &mut sink);
    check::block(&block, &item, &mut sink);
    sink.finish(
        &item,
        || expand::block(&krate, &block, &item),
        || expand::block_stub(&krate, &item),
    )
}
