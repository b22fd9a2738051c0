//! The rules for tools. One function is one rule; each reports and lets checking go on.

mod names;

use quote::ToTokens;
use syn::{LitStr, ReceiverKind, Safety, Signature, Type};

use crate::diag::Sink;
use crate::signature::{borrow_in, keyword_in};

use super::model::{Argument, Block, Name, Output, Tool};
use super::parse::ImplBlock;

/// The most arguments of a tool; the runtime has an implementation for each number up to here.
const MOST_ARGUMENTS: usize = 16;

/// The rules for a function.
pub(crate) fn function(tool: &Tool, namespace: Option<&LitStr>, sink: &mut Sink) {
    without_self(tool, sink);
    without_namespace(namespace, &tool.name, sink);
    names::legal_name(&tool.name, "", sink);
    each(tool, sink);
}

/// The rules for an `impl` block and the tools in it.
pub(crate) fn block(block: &Block, item: &ImplBlock, sink: &mut Sink) {
    if let Some(of_trait) = &item.of_trait {
        not_of_trait(of_trait, sink);
        return;
    }
    some_tool(block, item, sink);
    names::legal_namespace(block, sink);
    names::distinct_tools(&block.tools, sink);
    let namespace = block.namespace.as_ref().map(|name| name.value() + ".");
    for tool in &block.tools {
        shared_self(&tool.signature, sink);
        names::legal_name(&tool.name, namespace.as_deref().unwrap_or_default(), sink);
        each(tool, sink);
    }
}

/// The rules for every tool.
fn each(tool: &Tool, sink: &mut Sink) {
    plain_rust(&tool.signature, sink);
    not_generic(&tool.signature, sink);
    blocking_is_synchronous(tool, sink);
    read_only_is_not_destructive(tool, sink);
    owned_output(tool, sink);
    free_opaque_output(tool, sink);
    one_call_input(tool, sink);
    few_arguments(tool, sink);
    names::distinct_arguments(tool, sink);
    for argument in tool.arguments() {
        names::named_argument(argument, sink);
        owned_argument(argument, sink);
    }
}

/// A function on its own has no `self`.
fn without_self(tool: &Tool, sink: &mut Sink) {
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

/// The block is not of a trait.
fn not_of_trait(of_trait: &Type, sink: &mut Sink) {
    sink.error(
        of_trait,
        "the methods of a trait can't be tools yet; put the tools in an `impl Type` block",
    );
}

/// The block has a tool.
fn some_tool(block: &Block, item: &ImplBlock, sink: &mut Sink) {
    if block.tools.is_empty() {
        sink.error(
            &item.self_ty,
            "no tools in this impl block; mark one of its methods with `#[tool]`",
        );
    }
}

/// A method takes `&self` or nothing: calls run at the same time.
fn shared_self(signature: &Signature, sink: &mut Sink) {
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

/// A tool is neither `unsafe` nor of a foreign ABI.
fn plain_rust(signature: &Signature, sink: &mut Sink) {
    let safety = match &signature.safety {
        Safety::Default => None,
        safety => Some(safety.to_token_stream()),
    };
    let abi = signature.abi.as_ref().map(ToTokens::to_token_stream);
    for qualifier in [safety, abi].into_iter().flatten() {
        sink.error(qualifier, "a tool is a plain Rust function; remove this");
    }
}

/// A tool has no generic parameters, whether in `<…>` or as `impl Trait` arguments.
fn not_generic(signature: &Signature, sink: &mut Sink) {
    let params = &signature.generics.params;
    if !params.is_empty() {
        sink.error(params, "a tool can't be generic; write concrete types");
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
fn blocking_is_synchronous(tool: &Tool, sink: &mut Sink) {
    match &tool.blocking {
        Some(blocking) if blocking.value && tool.signature.asyncness.is_some() => sink.error(
            &blocking.key,
            "`blocking` on an `async fn`; remove one of the two",
        ),
        _ => {}
    }
}

/// What only reads destroys nothing.
fn read_only_is_not_destructive(tool: &Tool, sink: &mut Sink) {
    let is = |name| tool.hint(name).filter(|hint| hint.value);
    if let (Some(_), Some(destructive)) = (is("read_only"), is("destructive")) {
        sink.error(
            &destructive.key,
            "a tool can't be both `read_only` and `destructive`; remove one",
        );
    }
}

/// A reference may be returned, since it can be copied from, but not inside of another type.
fn owned_output(tool: &Tool, sink: &mut Sink) {
    let (Output::Named(ty) | Output::Borrowed(ty)) = &tool.output else {
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
fn free_opaque_output(tool: &Tool, sink: &mut Sink) {
    let Output::Opaque(ty) = &tool.output else {
        return;
    };
    let ty = ty.to_token_stream();
    let borrows = tool.signature.receiver().is_some() || tool.call_inputs().next().is_some();
    if borrows && keyword_in(ty.clone(), "use").is_none() {
        sink.error(
            keyword_in(ty, "impl"),
            "`impl Trait` borrows from the references before it; write `impl Trait + use<>`",
        );
    }
}

/// At most one parameter is a shared reference: what the tool knows of the call.
fn one_call_input(tool: &Tool, sink: &mut Sink) {
    for (index, input) in tool.call_inputs().enumerate() {
        if input.ty.mutability.is_some() {
            sink.error(
                &input.ty,
                "a tool can't borrow mutably; take arguments by value",
            );
        } else if index > 0 {
            sink.error(
                &input.ty,
                "a tool takes one reference, to its context; take arguments by value, like \
                 `String` for `&str`",
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
fn few_arguments(tool: &Tool, sink: &mut Sink) {
    let count = tool.arguments().count();
    if let Some(argument) = tool.arguments().nth(MOST_ARGUMENTS) {
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
