//! Rules for tools, prompts and resources. Each rule is one function, which reports errors and lets the others run.

pub(crate) mod bounds;
mod headers;
mod names;
mod policy;
mod scope;
mod stream;
mod task;
mod uri;

use quote::ToTokens;
use syn::{LitStr, ReceiverKind, ReturnType, Safety, Signature, Type};

use crate::diag::Sink;
use crate::signature::{borrow_in, keyword_in, peel};

pub(crate) use self::names::{distinct_names, legal_name, legal_namespace, legal_part};
pub(crate) use self::scope::legal_scope;
use super::model::{Argument, Block, Feature, Kind, Name, Output, is_method};
use super::parse::{ImplBlock, Member};

/// Maximum number of arguments. The runtime implements its traits for tuples up to this size.
const MAX_ARGUMENTS: usize = 16;

/// Checks a free function.
pub(crate) fn function(tool: &Feature, namespace: Option<&LitStr>, sink: &mut Sink) {
    without_self(tool, sink);
    without_namespace(namespace, &tool.name, sink);
    legal_name(tool, "", sink);
    common(tool, sink);
}

/// Checks an `impl` block and its marked methods.
pub(crate) fn block(block: &Block, item: &ImplBlock, sink: &mut Sink) {
    has_feature(block, item, sink);
    legal_namespace(block.namespace.as_ref(), sink);
    legal_scope(block.scope.as_ref(), sink);
    let features: Vec<_> = block.features.iter().collect();
    distinct_names(&features, "block", sink);
    uri::distinct_uris(&block.features, sink);
    let namespace = block.namespace.as_ref().map(|name| name.value() + ".");
    for feature in &block.features {
        completers_take_self(feature, item, sink);
        shared_self(&feature.signature, sink);
        legal_name(feature, namespace.as_deref().unwrap_or_default(), sink);
        common(feature, sink);
    }
}

/// Checks the rules that apply to every tool, prompt and resource.
pub(crate) fn common(feature: &Feature, sink: &mut Sink) {
    plain_rust(feature, sink);
    not_generic(feature, sink);
    blocking_is_synchronous(feature, sink);
    read_only_is_not_destructive(feature, sink);
    legal_scope(feature.scope.as_ref(), sink);
    policy::timeout_is_a_duration(feature, sink);
    policy::timeout_can_end_the_call(feature, sink);
    policy::max_concurrency_is_a_number(feature, sink);
    task::one_start(feature, sink);
    task::external_is_always_required(feature, sink);
    task::waits_less_than_it_runs(feature, sink);
    task::can_be_detached(feature, sink);
    has_output(feature, sink);
    stream::stream(feature, sink);
    if feature.stream.is_none() {
        owned_output(feature, sink);
        free_opaque_output(feature, sink);
    }
    types_are_complete(feature, sink);
    one_context(feature, sink);
    argument_count(feature, sink);
    names::distinct_arguments(feature, sink);
    headers::distinct_headers(feature, sink);
    uri::variables_are_arguments(feature, sink);
    for argument in feature.arguments() {
        names::named_argument(argument, sink);
        headers::legal_header(argument, sink);
        owned_argument(argument, sink);
        bounds::constant_default(argument.default.as_ref(), sink);
        bounds::range_is_not_empty(argument.range.as_ref(), sink);
        bounds::range_is_not_empty(argument.length.as_ref(), sink);
        bounds::default_in_range(argument.default.as_ref(), argument.range.as_ref(), sink);
    }
}

/// A free function has no `self`.
fn without_self(tool: &Feature, sink: &mut Sink) {
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

/// A free function has no `namespace`; its name contains the namespaces, separated by dots.
fn without_namespace(namespace: Option<&LitStr>, name: &Name, sink: &mut Sink) {
    if let Some(namespace) = namespace {
        let full = format!("{}.{}", namespace.value(), name.text);
        sink.error(
            namespace,
            format!(
                "`namespace` is a key of impl blocks; for a function write `name = \"{full}\"`"
            ),
        );
    }
}

/// The block has at least one tool, prompt or resource.
fn has_feature(block: &Block, item: &ImplBlock, sink: &mut Sink) {
    if block.features.is_empty() {
        sink.error(
            &item.self_ty,
            "no method in this impl block is marked; mark one with `#[tool]`, `#[prompt]` or \
             `#[resource(\"…\")]`",
        );
    }
}

/// A method takes `&self` or no `self`, since calls run concurrently.
pub(crate) fn shared_self(signature: &Signature, sink: &mut Sink) {
    let Some(receiver) = signature.receiver() else {
        return;
    };
    if !matches!(receiver.kind, ReceiverKind::Reference(_, _, None)) {
        sink.error(
            receiver,
            "calls share the value; take `&self`, and put mutable state in a `Mutex` or in atomics",
        );
    }
}

/// A completer written `Self::name` takes `&self`. Only functions in the same block can be checked.
fn completers_take_self(feature: &Feature, item: &ImplBlock, sink: &mut Sink) {
    for path in feature.arguments().filter_map(|it| it.complete.as_ref()) {
        let name = path.segments.last().map(|segment| &segment.ident);
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
        }
    }
}

/// The function is neither `unsafe` nor of a foreign ABI.
fn plain_rust(feature: &Feature, sink: &mut Sink) {
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
fn not_generic(feature: &Feature, sink: &mut Sink) {
    let (noun, signature) = (feature.kind.noun(), &feature.signature);
    let params = &signature.generics.params;
    if !params.is_empty() {
        sink.error(
            params,
            format!("a {noun} can't be generic; write concrete types"),
        );
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
fn blocking_is_synchronous(feature: &Feature, sink: &mut Sink) {
    match &feature.blocking {
        Some(blocking) if blocking.value && feature.signature.asyncness.is_some() => sink.error(
            &blocking.key,
            "`blocking` on an `async fn`; remove one of the two",
        ),
        _ => {}
    }
}

/// A tool is not both read-only and destructive.
fn read_only_is_not_destructive(feature: &Feature, sink: &mut Sink) {
    let is = |name| {
        let mut hints = feature.hints().iter();
        hints.find(|hint| hint.name == name && hint.given.value)
    };
    if let (Some(_), Some(destructive)) = (is("read_only"), is("destructive")) {
        sink.error(
            &destructive.given.key,
            "a tool can't be both `read_only` and `destructive`; remove one",
        );
    }
}

/// A prompt or a resource has an output.
fn has_output(feature: &Feature, sink: &mut Sink) {
    if let (Kind::Prompt | Kind::Resource(_), Output::Unit) = (&feature.kind, &feature.output) {
        let noun = feature.kind.noun();
        sink.error(
            &feature.signature.ident,
            format!("a {noun} needs an output; write a return type, like `-> String`"),
        );
    }
}

/// The output does not borrow. A plain reference is allowed, since its target can be cloned.
fn owned_output(feature: &Feature, sink: &mut Sink) {
    let (Output::Named(ty) | Output::Borrowed(ty)) = &feature.output else {
        return;
    };
    if let Some(token) = borrow_in(ty.to_token_stream()) {
        sink.error(
            token,
            "the output borrows here; return an owned type, like `String` for `&str`",
        );
    }
}

/// An `impl Trait` output does not borrow from the references that the function takes. Without `use<…>` such a type
/// captures all lifetimes in scope.
fn free_opaque_output(feature: &Feature, sink: &mut Sink) {
    let Output::Opaque(ty) = &feature.output else {
        return;
    };
    let ty = ty.to_token_stream();
    let borrows = feature.signature.receiver().is_some() || feature.call_inputs().next().is_some();
    if borrows && keyword_in(ty.clone(), "use").is_none() {
        sink.error(
            keyword_in(ty, "impl"),
            "`impl Trait` borrows from the references before it; write `impl Trait + use<>`",
        );
    }
}

/// No type is `_`, `!` or unsized. These errors are left to rustc.
fn types_are_complete(feature: &Feature, sink: &mut Sink) {
    let returned = match &feature.signature.output {
        ReturnType::Default => None,
        ReturnType::Type(_, ty) => Some(&**ty),
    };
    if returned.is_some_and(|ty| matches!(peel(ty), Type::Infer(_) | Type::Never(_))) {
        sink.leave_to_rustc();
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

/// At most one parameter is a shared reference: the context of the call.
fn one_context(feature: &Feature, sink: &mut Sink) {
    for (index, input) in feature.call_inputs().enumerate() {
        if input.ty.mutability.is_some() {
            let noun = feature.kind.noun();
            sink.error(
                &input.ty,
                format!("a {noun} can't borrow mutably; take arguments by value"),
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
fn argument_count(feature: &Feature, sink: &mut Sink) {
    let count = feature.arguments().count();
    if let Some(argument) = feature.arguments().nth(MAX_ARGUMENTS) {
        sink.error(
            &argument.name.tokens,
            format!("{count} arguments; the maximum is {MAX_ARGUMENTS}; group them in a struct"),
        );
    }
}

/// An argument does not borrow, since it outlives the message that contains it.
fn owned_argument(argument: &Argument, sink: &mut Sink) {
    if let Some(token) = borrow_in(argument.ty.to_token_stream()) {
        sink.error(
            token,
            "arguments are owned; write `String` for `&str`, `Vec<T>` for `&[T]`",
        );
    }
}
