//! Rules for the parameters of a function.

use quote::ToTokens;
use syn::{ExprPath, FnArg, Signature, Type};

use crate::diag::Sink;
use crate::signature::{borrow_in, peel, reference_in};
use crate::tool::model::{Argument, Feature, is_method};
use crate::tool::parse::{ImplBlock, Member};

/// Maximum number of arguments. The runtime implements its traits for tuples up to this size.
const MAX_ARGUMENTS: usize = 16;

/// At most one parameter is a shared reference: the context of the call.
pub(super) fn one_context(feature: &Feature, sink: &mut Sink) {
    for (index, input) in feature.call_inputs().enumerate() {
        let is_context = is_named(&input.ty.elem, "Context");
        if input.ty.mutability.is_some() {
            let noun = feature.kind.noun();
            let write = if is_context {
                "write `cx: &Context`"
            } else {
                "take arguments by value"
            };
            sink.error(&input.ty, format!("a {noun} can't borrow mutably; {write}"));
        } else if is_context
            && input
                .ty
                .lifetime
                .as_ref()
                .is_some_and(|it| it.ident == "static")
        {
            sink.error(
                &input.ty.lifetime,
                "the context lives as long as its call; write `&Context`",
            );
        } else if index > 0 {
            let noun = feature.kind.noun();
            sink.error(
                &input.ty,
                format!(
                    "a {noun} takes one reference, to its context; take arguments by value, like \
                     `String` for `&str`"
                ),
            );
        } else if let Some(arg) = &input.arg {
            sink.error(
                arg,
                "`#[arg]` on a borrowed parameter, which is not an argument; remove it",
            );
        }
    }
}

/// A function has at most [`MAX_ARGUMENTS`] arguments.
pub(super) fn argument_count(feature: &Feature, sink: &mut Sink) {
    let count = feature.arguments().count();
    if let Some(argument) = feature.arguments().nth(MAX_ARGUMENTS) {
        sink.error(
            &argument.name.tokens,
            format!("{count} arguments; the maximum is {MAX_ARGUMENTS}; group them in a struct"),
        );
    }
}

/// Returns `true` for a path to a type with this name.
fn is_named(ty: &Type, name: &str) -> bool {
    match peel(ty) {
        Type::Path(path) => path
            .path
            .segments
            .last()
            .is_some_and(|last| last.ident == name),
        _ => false,
    }
}

/// An argument does not borrow, since it outlives the message that contains it. Nor is it a `&'static`, which no message contains.
pub(super) fn owned_argument(argument: &Argument, sink: &mut Sink) {
    let ty = || argument.ty.to_token_stream();
    if let Some(token) = borrow_in(ty()).or_else(|| reference_in(ty())) {
        sink.error(
            token,
            "arguments are owned; write `String` for `&str`, `Vec<T>` for `&[T]`",
        );
    }
}

/// Returns `true` if a function takes one value that may be a part of the completion request.
fn takes_request(signature: &Signature) -> bool {
    let mut inputs = signature.inputs.iter().filter_map(|input| match input {
        FnArg::Typed(typed) => Some(&*typed.ty),
        FnArg::Receiver(_) => None,
    });
    let is_owned = |ty| is_named(ty, "String") || is_named(ty, "CompletionRequest");
    inputs.next().is_some_and(|ty| !is_owned(ty)) && inputs.next().is_none()
}

/// A completer written `Self::name` takes `&self` and the text, or the whole request. Only functions in the same block can be checked.
pub(super) fn completers_take_self(feature: &Feature, item: &ImplBlock, sink: &mut Sink) {
    let paths = feature.arguments().filter_map(|it| it.complete.as_ref());
    // `<Self as Trait>::name` is a function of the trait.
    let is_of_trait = |path: &&ExprPath| path.qself.as_ref().is_some_and(|it| it.position > 0);
    for path in paths.filter(|path| !is_of_trait(path)) {
        let name = path.path.segments.last().map(|segment| &segment.ident);
        let mut functions = item.members.iter().filter_map(|member| match member {
            Member::Function(function) => Some(&function.signature),
            Member::Other(_) => None,
        });
        let found = functions.find(|signature| name == Some(&signature.ident));
        if is_method(path) && found.is_some_and(|signature| signature.receiver().is_none()) {
            sink.error(
                path,
                "this function takes no `&self`; add it, or move the function out of the block",
            );
        } else if is_method(path) && found.is_some_and(|signature| !takes_request(signature)) {
            sink.error(
                path,
                "this function takes other parameters than a completer; write `&self, typed: &str`, or `&CompletionRequest`",
            );
        }
    }
}
