//! Rules for the tools of a contract.

use proc_macro2::TokenTree;
use quote::ToTokens;
use syn::Type;

use crate::client::model::Tool;
use crate::diag::Sink;
use crate::signature::{bound_in, keyword_in, peel};
use crate::tool::check as rules;
use crate::tool::model::{Feature, Output};

/// Checks a tool, whose name follows `namespace`, except its types.
pub(super) fn tool(tool: &Tool, namespace: &str, sink: &mut Sink) {
    tools_only(tool, sink);
    rules::legal_name(&tool.feature, namespace, sink);
    rules::keys(&tool.feature, sink);
}

/// Checks the types of a tool.
pub(super) fn types(tool: &Tool, sink: &mut Sink) {
    let feature = &tool.feature;
    concrete_types(feature, sink);
    if is_written_async(feature, sink)
        && has_result(feature, sink)
        && stream_is_not_async(feature, sink)
        && named_result(feature, sink)
    {
        rules::types(feature, sink);
    }
}

/// A contract has no prompts or resources.
fn tools_only(tool: &Tool, sink: &mut Sink) {
    for other in &tool.others {
        let last = other.path().segments.last();
        let noun = match last {
            Some(last) if last.ident == "prompt" => "prompt",
            _ => "resource",
        };
        sink.error(other.path(), super::tools_only(noun));
    }
}

/// The types are the same in all implementations of the trait.
fn concrete_types(feature: &Feature, sink: &mut Sink) {
    let output = match &feature.output {
        Output::Unit => None,
        Output::Named(ty) | Output::Opaque(ty) | Output::Borrowed(ty) => Some(ty),
    };
    for ty in feature.arguments().map(|it| &it.ty).chain(output) {
        if let Some(token) = keyword_in(ty.to_token_stream(), "Self") {
            sink.error(token, "the client can't know `Self`; write a concrete type");
        }
    }
}

/// A method that returns a future is an `async fn`.
fn is_written_async(feature: &Feature, sink: &mut Sink) -> bool {
    let (Output::Named(ty) | Output::Opaque(ty)) = &feature.output else {
        return true;
    };
    let is_boxed = match peel(ty) {
        Type::Path(path) => {
            let last = path.path.segments.last();
            last.is_some_and(|last| {
                ["BoxFuture", "LocalBoxFuture"]
                    .iter()
                    .any(|it| last.ident == it)
            })
        }
        _ => false,
    };
    let is_future = is_boxed || bound_in(ty.to_token_stream(), "Future").is_some();
    if is_future {
        sink.error(
            ty,
            "a method of a contract that returns a future is an `async fn`; write `async fn`, and the output of the future",
        );
    }
    !is_future
}

/// The method returns an owned value. Trait resolution checks later that it is a `Result`.
fn has_result(feature: &Feature, sink: &mut Sink) -> bool {
    match &feature.output {
        Output::Unit => {
            sink.error(
                &feature.signature.ident,
                "a remote call can fail; return a `Result`, like `Result<(), ToolError>`",
            );
            false
        }
        Output::Borrowed(_) => {
            let output = &feature.signature.output;
            sink.error(
                reference(output),
                "a call can't return a reference; return a `Result` of an owned type, or mark a part \
                 `#[namespace]`",
            );
            false
        }
        Output::Named(_) | Output::Opaque(_) => true,
    }
}

/// The `&` of a return type.
fn reference(output: &syn::ReturnType) -> TokenTree {
    let tokens = output.to_token_stream().into_iter();
    let mut tokens = tokens.skip_while(|token| token.to_string() != "&");
    let token = tokens.next();
    token.unwrap_or_else(|| {
        TokenTree::Group(proc_macro2::Group::new(
            proc_macro2::Delimiter::None,
            output.to_token_stream(),
        ))
    })
}

/// A method that streams is not `async` and returns `impl Stream<Item = …>`.
fn stream_is_not_async(feature: &Feature, sink: &mut Sink) -> bool {
    let Some(stream) = &feature.stream else {
        return true;
    };
    if let Some(asyncness) = &feature.signature.asyncness {
        sink.error(
            asyncness,
            "a stream starts when it is polled; remove `async`, and move the setup into the stream",
        );
        return false;
    }
    let is_visible = match &feature.output {
        Output::Opaque(ty) => matches!(peel(ty), Type::ImplTrait(_)) && stream.item.is_some(),
        _ => false,
    };
    if !is_visible {
        let ty = &feature.signature.output;
        let at = match ty {
            syn::ReturnType::Type(_, ty) => ty.to_token_stream(),
            syn::ReturnType::Default => feature.signature.ident.to_token_stream(),
        };
        sink.error(
            at,
            "a stream of a contract is an `impl Stream<Item = Result<…>>`",
        );
    }
    is_visible
}

/// The output type has a name, which the client needs.
fn named_result(feature: &Feature, sink: &mut Sink) -> bool {
    match &feature.output {
        Output::Opaque(ty) if feature.stream.is_none() => {
            sink.error(
                keyword_in(ty.to_token_stream(), "impl"),
                "the client has to name this type; write it out",
            );
            false
        }
        _ => true,
    }
}
