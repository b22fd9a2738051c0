//! The server half: `#[mcp_tool]` on an implementation of a contract.

use proc_macro2::TokenStream;
use syn::{FnArg, ImplItem, Type};

use crate::args::Keys;
use crate::diag::Sink;
use crate::krate::Krate;
use crate::signature::Function;
use crate::tool::check as rules;
use crate::tool::expand::{block_stub, impl_mount};
use crate::tool::model::extract;
use crate::tool::parse::{ImplBlock, Member};

use super::{check, expand};

/// Attributes that mark a method, which belong in the trait.
const MARKS: [&str; 4] = ["tool", "prompt", "resource", "namespace"];

/// Expands `#[mcp_tool] impl Trait for Type`.
pub(crate) fn implement(
    krate: &Krate,
    mut keys: Keys,
    mut item: ImplBlock,
    mut sink: Sink,
) -> TokenStream {
    let namespace = keys.string("namespace", &mut sink);
    let scope = keys.expr("scope", &mut sink);
    rules::legal_scope(scope.as_ref(), &mut sink);
    check::namespace_belongs_in_the_trait(namespace.as_ref(), &mut sink);
    check::async_trait::reject(&mut item.attributes, &mut sink);
    let is_expanded =
        |function: &mut Function| check::async_trait::has_expanded(&function.signature);
    if item.functions().any(is_expanded) {
        sink.error(&item.of_trait, check::async_trait::REMOVE);
        return omit(krate, &item, sink);
    }
    let mut has_unnamed_part = false;
    for function in item.functions() {
        without_marks(function, krate, &mut sink);
        has_unnamed_part |= check::has_unnamed_part(&function.signature, &mut sink);
    }
    if has_unnamed_part {
        return omit(krate, &item, sink);
    }
    let types = expand::part_types(&mut item);
    let types = types.into_iter().map(ImplItem::Verbatim);
    item.members.extend(types.map(Member::Other));
    let mount = item.of_trait.as_ref().map(|of: &Type| {
        let members = expand::implementation(krate, of, scope.as_ref());
        impl_mount(krate, &item, &members)
    });
    sink.finish(
        &item,
        || mount.unwrap_or_default(),
        || block_stub(krate, &item),
    )
}

/// Omits an implementation with an error, in which rustc would report more.
fn omit(krate: &Krate, item: &ImplBlock, sink: Sink) -> TokenStream {
    let nothing = TokenStream::new();
    sink.finish(&nothing, TokenStream::new, || block_stub(krate, item))
}

/// Removes our marks from a function, and reports them.
fn without_marks(function: &mut Function, krate: &Krate, sink: &mut Sink) {
    let marks = extract(&mut function.attributes, |mark| {
        MARKS.iter().any(|name| krate.is_mark(mark.path(), name))
    });
    check::marks_belong_in_the_trait(&marks, sink);
    for param in &mut function.signature.inputs {
        let attributes = match param {
            FnArg::Receiver(receiver) => &mut receiver.attrs,
            FnArg::Typed(param) => &mut param.attrs,
        };
        let marks = extract(attributes, |mark| mark.path().is_ident("arg"));
        check::marks_belong_in_the_trait(&marks, sink);
    }
}
