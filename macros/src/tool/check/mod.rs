//! The rules for tools, prompts and resources. One function is one rule; each reports and lets checking go on.

pub(crate) mod bounds;
mod headers;
mod names;
mod policy;
mod stream;
mod uri;

use quote::ToTokens;
use syn::{LitStr, ReceiverKind, ReturnType, Safety, Signature, Type};

use crate::diag::Sink;
use crate::signature::{borrow_in, keyword_in, peel};

pub(crate) use self::names::{distinct_names, legal_name, legal_namespace, legal_part};
use super::model::{Argument, Block, Feature, Kind, Name, Output, is_method};
use super::parse::{ImplBlock, Member};

/// The most arguments of a tool; the runtime has an implementation for each number up to here.
const MOST_ARGUMENTS: usize = 16;

/// The rules for a function.
pub(crate) fn function(tool: &Feature, namespace: Option<&LitStr>, sink: &mut Sink) {
    without_self(tool, sink);
    without_namespace(namespace, &tool.name, sink);
    legal_name(tool, "", sink);
    each(tool, sink);
}

/// The rules for an `impl` block and what is marked in it.
pub(crate) fn block(block: &Block, item: &ImplBlock, sink: &mut Sink) {
    some_feature(block, item, sink);
    legal_namespace(block.namespace.as_ref(), sink);
    let features: Vec<_> = block.features.iter().collect();
    distinct_names(&features, "block", sink);
    uri::distinct_uris(&block.features, sink);
    let namespace = block.namespace.as_ref().map(|name| name.value() + ".");
    for feature in &block.features {
        completers_take_self(feature, item, sink);
        shared_self(&feature.signature, sink);
        legal_name(feature, namespace.as_deref().unwrap_or_default(), sink);
        each(feature, sink);
    }
}

/// The rules for all kinds.
pub(crate) fn each(feature: &Feature, sink: &mut Sink) {
    plain_rust(feature, sink);
    not_generic(feature, sink);
    blocking_is_synchronous(feature, sink);
    read_only_is_not_destructive(feature, sink);
    policy::timeout_is_a_duration(feature, sink);
    policy::timeout_can_end_the_call(feature, sink);
    policy::max_concurrency_is_a_number(feature, sink);
    some_output(feature, sink);
    stream::stream(feature, sink);
    if feature.stream.is_none() {
        owned_output(feature, sink);
        free_opaque_output(feature, sink);
    }
    written_types(feature, sink);
    one_call_input(feature, sink);
    few_arguments(feature, sink);
    names::distinct_arguments(feature, sink);
    headers::distinct_headers(feature, sink);
    uri::variables_are_arguments(feature, sink);
    for argument in feature.arguments() {
        names::named_argument(argument, sink);
        headers::legal_header(argument, sink);
        owned_argument(argument, sink);
        bounds::constant_default(argument.default.as_ref(), sink);
        bounds::some_value(argument.range.as_ref(), sink);
        bounds::some_value(argument.length.as_ref(), sink);
        bounds::default_in_range(argument.default.as_ref(), argument.range.as_ref(), sink);
    }
}

/// A function on its own has no `self`.
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

/// A function on its own has one name, whose dots are its namespaces.
fn without_namespace(namespace: Option<&LitStr>, name: &Name, sink: &mut Sink) {
    if let Some(namespace) = namespace {
        let full = format!("{}.{}", namespace.value(), name.text);
        sink.error(
            namespace,
            format!("`namespace` goes on an impl block; for a function write `name = \"{full}\"`"),
        );
    }
}

/// The block has a tool, a prompt or a resource.
fn some_feature(block: &Block, item: &ImplBlock, sink: &mut Sink) {
    if block.features.is_empty() {
        sink.error(
            &item.self_ty,
            "nothing in this impl block is marked; mark a method with `#[tool]`, `#[prompt]` or \
             `#[resource(\"…\")]`",
        );
    }
}

/// A method takes `&self` or nothing: calls run at the same time.
pub(crate) fn shared_self(signature: &Signature, sink: &mut Sink) {
    let Some(receiver) = signature.receiver() else {
        return;
    };
    if !matches!(receiver.kind, ReceiverKind::Reference(_, _, None)) {
        sink.error(
            receiver,
            "calls share the value; take `&self`, and keep what changes in a `Mutex` or in atomics",
        );
    }
}

/// A completer that is `Self`'s is a method, as far as it can be seen.
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
                "this function takes no `&self`; add it, or put the function outside of the block",
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

/// Only a function that blocks its thread needs the pool for blocking.
fn blocking_is_synchronous(feature: &Feature, sink: &mut Sink) {
    match &feature.blocking {
        Some(blocking) if blocking.value && feature.signature.asyncness.is_some() => sink.error(
            &blocking.key,
            "`blocking` on an `async fn`; remove one of the two",
        ),
        _ => {}
    }
}

/// What only reads destroys nothing.
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

/// A prompt or a resource is what its function returns, so it returns something.
fn some_output(feature: &Feature, sink: &mut Sink) {
    if let (Kind::Prompt | Kind::Resource(_), Output::Unit) = (&feature.kind, &feature.output) {
        let noun = feature.kind.noun();
        sink.error(
            &feature.signature.ident,
            format!("a {noun} returns what it says; write its type, like `-> String`"),
        );
    }
}

/// A reference may be returned, since it can be copied from, but not inside of another type.
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

/// An `impl Trait` output does not borrow from the references that the function takes. It would if
/// it did not say `use<…>`: such a type captures all lifetimes in scope.
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

/// No type is `_` or `!`, or one without a size: rustc says so itself.
fn written_types(feature: &Feature, sink: &mut Sink) {
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

/// At most one parameter is a shared reference: what the function knows of the call.
fn one_call_input(feature: &Feature, sink: &mut Sink) {
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

/// Arguments are few enough for a person, and a model, to keep apart.
fn few_arguments(feature: &Feature, sink: &mut Sink) {
    let count = feature.arguments().count();
    if let Some(argument) = feature.arguments().nth(MOST_ARGUMENTS) {
        sink.error(
            &argument.name.tokens,
            format!("{count} arguments, and {MOST_ARGUMENTS} is the most; group them in a struct"),
        );
    }
}

/// An argument borrows from nothing, since it outlives the message that it came in.
fn owned_argument(argument: &Argument, sink: &mut Sink) {
    if let Some(token) = borrow_in(argument.ty.to_token_stream()) {
        sink.error(
            token,
            "arguments are owned; write `String` for `&str`, `Vec<T>` for `&[T]`",
        );
    }
}
