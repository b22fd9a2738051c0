//! Rules for the output of a function.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::Generics;

use crate::diag::Sink;
use crate::signature::{borrow_in, keyword_in};
use crate::tool::model::{Feature, Kind, Output};

/// A prompt or a resource has an output.
pub(super) fn has_output(feature: &Feature, sink: &mut Sink) {
    if let (Kind::Prompt | Kind::Resource(_), Output::Unit) = (&feature.kind, &feature.output) {
        let noun = feature.kind.noun();
        sink.error(
            &feature.signature.ident,
            format!("a {noun} needs an output; write a return type, like `-> String`"),
        );
    }
}

/// The output does not borrow. A plain reference is allowed, since its target can be cloned.
pub(super) fn owned_output(feature: &Feature, sink: &mut Sink) {
    let (Output::Named(ty) | Output::Borrowed(ty)) = &feature.output else {
        return;
    };
    let Some(token) = borrow_in(ty.to_token_stream()) else {
        return;
    };
    if feature.signature.inputs.is_empty() && lacks_lifetime(ty.to_token_stream()) {
        // E0106.
        sink.leave_to_rustc();
    } else {
        sink.error(
            token,
            "the output borrows here; return an owned type, like `String` for `&str`",
        );
    }
}

/// Returns `true` if the output of a function without parameters certainly has a `&` whose lifetime is missing. Within a group, it may be
/// that of a parameter, as in `fn(&str)`, or of a macro. A parameter of the function may have a lifetime that is not visible.
fn lacks_lifetime(ty: TokenStream) -> bool {
    let is_flat = |token: &TokenTree| !matches!(token, TokenTree::Group(_));
    let flat = ty.into_iter().take_while(is_flat).collect();
    borrow_in(flat).is_some_and(|token| token.to_string() == "&")
}

/// An `impl Trait` output does not borrow from the references that the function takes. Without `use<…>` such a type
/// captures all lifetimes in scope, in edition 2021 those of an `async` function only. `use<…>` has to name the other parameters.
pub(super) fn free_opaque_output(feature: &Feature, generics: &Generics, sink: &mut Sink) {
    let Output::Opaque(ty) = &feature.output else {
        return;
    };
    if feature.stream.is_some() {
        return;
    }
    let ty = ty.to_token_stream();
    let borrows = feature.signature.receiver().is_some() || feature.call_inputs().next().is_some();
    if borrows && keyword_in(ty.clone(), "use").is_none() {
        let types = generics.type_params().map(|it| &it.ident);
        let constants = generics.const_params().map(|it| &it.ident);
        let parameters: Vec<_> = types.chain(constants).map(ToString::to_string).collect();
        let parameters = parameters.join(", ");
        let message = format!(
            "`impl Trait` borrows from the references before it; write `impl Trait + use<{parameters}>`, in edition 2021 too"
        );
        sink.error(keyword_in(ty, "impl"), message);
    }
}
