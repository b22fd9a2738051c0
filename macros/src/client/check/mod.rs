//! Rules for contracts. Each rule is one function, which reports errors and lets the others run.

pub(super) mod async_trait;
mod tool;

use quote::ToTokens;
use syn::ext::IdentExt;
use syn::{LitStr, Type};

use crate::diag::Sink;
use crate::signature::peel;
use crate::tool::check as rules;
use crate::tool::model::Feature;

use super::model::{Contract, Entry, Part, other_members, returned_part};
use super::parse::Trait;

/// Methods that the client has in addition to those of the trait.
const RESERVED: [&str; 6] = [
    "new",
    "client",
    "namespace",
    "with_namespace",
    "contract",
    "mcp_tools",
];

/// Checks a trait. Returns for each method whether its types are correct, so that its client method can be generated although there
/// are other mistakes.
pub(crate) fn contract(contract: &Contract, item: &Trait, sink: &mut Sink) -> Vec<bool> {
    let mut methods = contract.methods.iter();
    if methods.any(|entry| async_trait::has_expanded(entry.signature())) {
        sink.error(&item.ident, async_trait::REMOVE);
        return vec![false; contract.methods.len()];
    }
    not_generic(item, sink);
    not_unsafe(item, sink);
    methods_only(item, sink);
    has_method(contract, item, sink);
    rules::legal_namespace(contract.namespace.as_ref(), sink);
    distinct_names(contract, sink);
    let namespace = contract.namespace.as_ref().map(|name| name.value() + ".");
    let namespace = namespace.unwrap_or_default();
    let methods = contract.methods.iter();
    let is_sound = methods.map(|entry| method(entry, &namespace, sink));
    let is_sound = is_sound.collect();
    for provided in item
        .members
        .iter()
        .filter_map(super::parse::Member::provided)
    {
        parts_have_no_body(contract, provided, sink);
    }
    is_sound
}

/// Checks a method. Returns `true` if a client can have it.
fn method(entry: &Entry, namespace: &str, sink: &mut Sink) -> bool {
    takes_self(entry, sink);
    let before = sink.count();
    not_reserved(entry, sink);
    match entry {
        Entry::Tool(tool) => tool::types(tool, sink),
        Entry::Part(part) => returns_a_part(part, sink),
    }
    let is_sound = sink.count() == before;
    match entry {
        Entry::Tool(tool) => tool::tool(tool, namespace, sink),
        Entry::Part(part) => {
            only_namespace(part, sink);
            rules::legal_part(&part.name, sink);
        }
    }
    is_sound
}

/// A contract is not generic, since its client is a single type.
fn not_generic(item: &Trait, sink: &mut Sink) {
    let params = &item.generics.params;
    if !params.is_empty() {
        sink.error(params, "a contract can't be generic; write concrete types");
    }
}

/// A contract is not an unsafe trait.
fn not_unsafe(item: &Trait, sink: &mut Sink) {
    if let Some(safety) = &item.safety {
        sink.error(safety, "a contract is a plain trait; remove this");
    }
}

/// A contract has no members other than methods, since only these can be called remotely.
fn methods_only(item: &Trait, sink: &mut Sink) {
    for other in other_members(item) {
        sink.error(
            other,
            "a contract has methods only; put this into another trait, or write a concrete type",
        );
    }
}

/// The trait has at least one method.
fn has_method(contract: &Contract, item: &Trait, sink: &mut Sink) {
    let is_empty = contract.methods.is_empty() && other_members(item).next().is_none();
    if is_empty {
        sink.error(
            &item.ident,
            "this contract is empty; each `async fn` in it becomes a tool",
        );
    }
}

/// The names of tools and parts are distinct, and no tool has a name in the namespace of a part.
///
/// Duplicate Rust names are left to rustc, which reports them itself.
fn distinct_names(contract: &Contract, sink: &mut Sink) {
    let tools: Vec<_> = contract.tools().map(|tool| &tool.feature).collect();
    rules::distinct_names(&tools, "trait", sink);
    for part in contract.parts() {
        let name = &part.name.text;
        let is_within = |tool: &&&Feature| {
            let rest = tool.name.text.strip_prefix(name.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let clash = tools.iter().find(is_within);
        if let Some(tool) = clash.filter(|tool| tool.signature.ident != part.signature.ident) {
            let tool = &tool.name.text;
            sink.error(
                &part.name.tokens,
                format!("the name of the tool `{tool}` is in this namespace; rename one"),
            );
        }
    }
    for (index, part) in contract.parts().enumerate() {
        let mut earlier = contract.parts().take(index);
        let is_same = |other: &Part| {
            other.name.text == part.name.text && other.signature.ident != part.signature.ident
        };
        if earlier.any(is_same) {
            let name = &part.name.text;
            sink.error(
                &part.name.tokens,
                format!("another namespace in this trait is named `{name}`; rename one"),
            );
        }
    }
}

/// No method has the name of one of the client's own methods.
fn not_reserved(entry: &Entry, sink: &mut Sink) {
    let ident = &entry.signature().ident;
    let name = ident.unraw().to_string();
    if RESERVED.contains(&name.as_str()) {
        sink.error(
            ident,
            format!(
                "the generated client already has a method `{name}`; rename this one, and write \
                `name = \"{name}\"` in its attribute"
            ),
        );
    }
}

/// A method takes `&self`, since calls run concurrently.
fn takes_self(entry: &Entry, sink: &mut Sink) {
    let signature = entry.signature();
    if signature.receiver().is_none() {
        sink.error(
            &signature.ident,
            "a method of a contract takes `&self`; add it before the arguments",
        );
    }
    rules::shared_self(signature, sink);
}

/// A part has no other marks.
fn only_namespace(part: &Part, sink: &mut Sink) {
    for other in &part.others {
        sink.error(
            other.path(),
            "a method is a tool or a `#[namespace]`; remove one of the attributes",
        );
    }
}

/// A part takes no arguments and returns `&impl Trait`.
fn returns_a_part(part: &Part, sink: &mut Sink) {
    let signature = &part.signature;
    let is_plain = signature.asyncness.is_none()
        && signature.generics.params.is_empty()
        && signature.inputs.len() == usize::from(signature.receiver().is_some());
    if part.of.is_none() || !is_plain {
        let ident = &signature.ident;
        sink.error(
            ident,
            format!("a namespace is written `fn {ident}(&self) -> &impl Trait`, with the trait of its tools"),
        );
    }
}

/// An implementation names the type of a part. Returns `true` if it does not.
pub(crate) fn has_unnamed_part(signature: &syn::Signature, sink: &mut Sink) -> bool {
    let ty = returned_part(signature);
    let Some(ty) = ty.filter(|ty| matches!(peel(ty), Type::ImplTrait(_))) else {
        return false;
    };
    let ident = &signature.ident;
    sink.error(
        ty,
        format!("an implementation names the type of its part; write it, like `fn {ident}(&self) -> &Type`"),
    );
    true
}

/// A part has no default body, since each implementation returns its own value.
fn parts_have_no_body(contract: &Contract, provided: &syn::Signature, sink: &mut Sink) {
    let is_part = |part: &Part| part.signature.ident == provided.ident;
    if contract.parts().any(is_part) {
        sink.error(
            &provided.ident,
            "each implementation of the trait returns its own namespace; remove the body",
        );
    }
}

/// Marks of tools belong on the methods of the trait, not of the implementation. Prompts and resources belong in neither.
pub(crate) fn marks_belong_in_the_trait(marks: &[syn::Attribute], sink: &mut Sink) {
    for mark in marks {
        let other = ["prompt", "resource"];
        let last = mark.path().segments.last();
        let other = other
            .into_iter()
            .find(|name| last.is_some_and(|last| last.ident == name));
        let message = if let Some(noun) = other {
            tools_only(noun)
        } else {
            let name = mark.path().to_token_stream();
            format!("`#[{name}]` belongs in the trait with `#[mcp_client]`; remove it here")
        };
        sink.error(mark.path(), message);
    }
}

/// Error message for a prompt or a resource in a contract.
fn tools_only(noun: &str) -> String {
    format!(
        "a contract has tools only; put the {noun} in an `#[mcp_tool]` impl block of another type, and mount both"
    )
}

/// The key `namespace` belongs on the trait, not on the implementation.
pub(crate) fn namespace_belongs_in_the_trait(namespace: Option<&LitStr>, sink: &mut Sink) {
    if let Some(namespace) = namespace {
        sink.error(
            namespace,
            "`namespace` belongs on the trait, in `#[mcp_client(namespace = \"…\")]`; remove it here",
        );
    }
}
