//! Rules for tools, prompts and resources. Each rule is one function, which reports errors and lets the others run.

pub(crate) mod bounds;
mod flatten;
mod headers;
mod input;
mod names;
mod output;
mod policy;
mod scope;
mod signature;
mod stream;
mod task;
mod uri;

use quote::ToTokens;
use syn::{Generics, LitStr};

use crate::diag::Sink;
use crate::signature::is_trait_object;

pub(crate) use self::names::{
    distinct_names, is_primitive, legal_name, legal_namespace, legal_part,
};
pub(crate) use self::scope::legal_scope;
pub(crate) use self::signature::shared_self;
use super::model::{Block, Feature, Name};
use super::parse::ImplBlock;

/// Checks a free function.
pub(crate) fn function(tool: &Feature, namespace: Option<&LitStr>, sink: &mut Sink) {
    signature::without_self(tool, sink);
    without_namespace(namespace, &tool.name, sink);
    legal_name(tool, "", sink);
    names::not_primitive(tool, sink);
    output::free_opaque_output(tool, &Generics::default(), sink);
    common(tool, sink);
}

/// Checks an `impl` block and its marked methods.
pub(crate) fn block(block: &Block, item: &ImplBlock, sink: &mut Sink) {
    has_feature(block, item, sink);
    has_size(item, sink);
    legal_namespace(block.namespace.as_ref(), sink);
    legal_scope(block.scope.as_ref(), sink);
    let features: Vec<_> = block.features.iter().collect();
    distinct_names(&features, "block", sink);
    uri::distinct_uris(&block.features, sink);
    let namespace = block.namespace.as_ref().map(|name| name.value() + ".");
    for feature in &block.features {
        input::completers_take_self(feature, item, sink);
        shared_self(&feature.signature, sink);
        output::free_opaque_output(feature, &item.generics, sink);
        legal_name(feature, namespace.as_deref().unwrap_or_default(), sink);
        common(feature, sink);
    }
}

/// Checks the rules that apply to every tool, prompt and resource.
fn common(feature: &Feature, sink: &mut Sink) {
    types(feature, sink);
    keys(feature, sink);
}

/// Checks the signature of a function.
pub(crate) fn types(feature: &Feature, sink: &mut Sink) {
    signature::plain_rust(feature, sink);
    signature::not_generic(feature, sink);
    output::has_output(feature, sink);
    stream::stream(feature, sink);
    if feature.stream.is_none() {
        output::owned_output(feature, sink);
    }
    signature::types_are_complete(feature, sink);
    input::one_context(feature, sink);
    input::argument_count(feature, sink);
    for argument in feature.arguments() {
        input::owned_argument(argument, sink);
    }
}

/// Checks the keys and names of a function and its arguments.
pub(crate) fn keys(feature: &Feature, sink: &mut Sink) {
    signature::blocking_is_synchronous(feature, sink);
    read_only_is_not_destructive(feature, sink);
    legal_scope(feature.scope.as_ref(), sink);
    policy::timeout_is_a_duration(feature, sink);
    policy::timeout_can_end_the_call(feature, sink);
    policy::max_concurrency_is_a_number(feature, sink);
    task::one_start(feature, sink);
    task::external_is_always_required(feature, sink);
    task::waits_less_than_it_runs(feature, sink);
    task::can_be_detached(feature, sink);
    names::distinct_arguments(feature, sink);
    headers::distinct_headers(feature, sink);
    flatten::one_flattened(feature, sink);
    uri::variables_are_arguments(feature, sink);
    for argument in feature.arguments() {
        names::named_argument(argument, &feature.kind, sink);
        headers::legal_header(argument, sink);
        bounds::constant_default(argument.default.as_ref(), sink);
        bounds::range_is_not_empty(argument.range.as_ref(), sink);
        bounds::range_is_not_empty(argument.length.as_ref(), sink);
        bounds::default_in_range(argument.default.as_ref(), argument.range.as_ref(), sink);
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

/// The type of the block has a size, since a server stores a value of it.
fn has_size(item: &ImplBlock, sink: &mut Sink) {
    if is_trait_object(&item.self_ty) {
        let ty = item.self_ty.to_token_stream();
        sink.error(
            &item.self_ty,
            format!("tools can't be on a trait object; put them on a type that holds one, such as `struct Service(Arc<{ty}>)`"),
        );
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
