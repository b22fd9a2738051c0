//! Rules for the signature of a function.

use quote::ToTokens;
use syn::{GenericParam, ReceiverKind, ReturnType, Safety, Signature, Type};

use crate::diag::Sink;
use crate::signature::{keyword_in, peel};
use crate::tool::model::Feature;

/// A free function has no `self`.
pub(super) fn without_self(tool: &Feature, sink: &mut Sink) {
    if let Some(receiver) = tool.signature.receiver() {
        let name = &tool.name.text;
        sink.error(
            receiver,
            format!(
                "tool `{name}` takes `self`; tools on a type go in an `#[mcp_tool]` impl block, \
                 marked `#[tool]`"
            ),
        );
    }
}

/// A method takes `&self` or no `self`, since calls run concurrently.
pub(crate) fn shared_self(signature: &Signature, sink: &mut Sink) {
    let Some(receiver) = signature.receiver() else {
        return;
    };
    let is_shared = |ty: &Type| matches!(peel(ty), Type::Reference(it) if it.mutability.is_none());
    let message = match &receiver.kind {
        ReceiverKind::Reference(_, _, None) => return,
        ReceiverKind::Typed(_, ty) if is_shared(ty) => "calls share the value; take `&self`",
        _ => {
            "calls share the value; take `&self`, and put mutable state in a `Mutex` or in atomics"
        }
    };
    sink.error(receiver, message);
}

/// The function is neither `unsafe` nor of a foreign ABI.
pub(super) fn plain_rust(feature: &Feature, sink: &mut Sink) {
    let (noun, signature) = (feature.kind.noun(), &feature.signature);
    let safety = match &signature.safety {
        Safety::Default => None,
        safety => Some(safety.to_token_stream()),
    };
    let abi = signature.abi.as_ref().map(ToTokens::to_token_stream);
    for qualifier in [safety, abi].into_iter().flatten() {
        sink.error(
            qualifier,
            format!("a {noun} is a plain Rust function; remove this"),
        );
    }
}

/// The function has no generic parameters, whether in `<…>` or as `impl Trait` arguments.
pub(super) fn not_generic(feature: &Feature, sink: &mut Sink) {
    let (noun, signature) = (feature.kind.noun(), &feature.signature);
    let params = &signature.generics.params;
    let is_lifetime = |param: &GenericParam| matches!(param, GenericParam::Lifetime(_));
    if !params.is_empty() {
        let message = if params.iter().all(is_lifetime) {
            format!("a {noun} can't have lifetime parameters; remove them, also from the types")
        } else {
            format!("a {noun} can't be generic; write concrete types")
        };
        sink.error(params, message);
    }
    for input in &signature.inputs {
        if let Some(token) = keyword_in(input.to_token_stream(), "impl") {
            sink.error(
                token,
                "an argument can't be `impl Trait`; write a concrete type",
            );
        }
    }
}

/// An `async` function is not `blocking`: the pool is for functions that block their thread.
pub(super) fn blocking_is_synchronous(feature: &Feature, sink: &mut Sink) {
    match &feature.blocking {
        Some(blocking) if blocking.value && feature.signature.asyncness.is_some() => sink.error(
            &blocking.key,
            "`blocking` on an `async fn`; remove one of the two",
        ),
        _ => {}
    }
}

/// No type is `_`, `!` or unsized. rustc reports all but `!`, which is legal for a function.
pub(super) fn types_are_complete(feature: &Feature, sink: &mut Sink) {
    let returned = match &feature.signature.output {
        ReturnType::Default => None,
        ReturnType::Type(_, ty) => Some(&**ty),
    };
    match returned.map(|ty| (ty, peel(ty))) {
        Some((_, Type::Infer(_))) => sink.leave_to_rustc(),
        Some((ty, Type::Never(_))) => {
            let noun = feature.kind.noun();
            let message = format!("a {noun} that never returns has no result; write a type");
            sink.error(ty, message);
        }
        _ => {}
    }
    let unsized_or_unknown = |ty: &Type| {
        matches!(
            peel(ty),
            Type::Infer(_) | Type::Slice(_) | Type::TraitObject(_)
        )
    };
    if feature.arguments().any(|it| unsized_or_unknown(&it.ty)) {
        sink.leave_to_rustc();
    }
}
