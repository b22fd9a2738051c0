//! Generated closure that calls the function of a tool, prompt or resource.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;

use crate::krate::Krate;
use crate::tool::model::{Argument, CallInput, Feature, Input, Mode, Output};

use super::entry::Target;
use super::stream::collect_items;

/// The closure that calls the user's function. Expands to one of
/// ```text
/// |__state: ::std::sync::Arc<Self>, __call, (__a0, __a1,)| async move { <call> }
/// |__state: ::std::sync::Arc<Self>, __call, (__a0, __a1,)| <call>
/// |__state: &::std::sync::Arc<Self>, __call, (__a0, __a1,)| <call>
/// ```
/// `__call` is a `::treenail::Context`, or `()` if the function takes no context; for a streaming tool it is a `Streaming`
/// of that type.
pub(super) fn handler(krate: &Krate, feature: &Feature, target: Target<'_>) -> TokenStream {
    let state = match target {
        Target::None => quote!(::std::sync::Arc<()>),
        Target::Type => quote!(::std::sync::Arc<Self>),
        Target::Contract(_) => quote!(::std::sync::Arc<__Whole>),
    };
    let call_ty = feature
        .call_inputs()
        .next()
        .map_or(quote!(()), |_| quote!(#krate::Context));
    let call_ty = match feature.stream {
        Some(_) => quote!(#krate::__private_0_1_0::Streaming<#call_ty>),
        None => call_ty,
    };
    let arguments = values(feature);
    let call = call(krate, feature, target);
    let call = match feature.stream {
        Some(_) => collect_items(krate, feature, &call),
        None => call,
    };
    let (state, body) = match Mode::of(feature) {
        Mode::Asynchronous => (state, assert_send(&feature.signature.ident, &call)),
        Mode::Blocking => (state, call),
        Mode::Synchronous => (quote!(&#state), call),
    };
    let captures = feature.stream.is_some() || matches!(target, Target::Contract(_));
    let capture = captures.then(|| quote!(move));
    quote!(#capture |__state: #state, __call: #call_ty, #arguments| #body)
}

/// The pattern of the values of the arguments: `(__a0, __a1,)`, or `((__a1,), __a0)` if the first one is flattened.
fn values(feature: &Feature) -> TokenStream {
    let is_flattened = || feature.arguments().map(Argument::is_flattened);
    let named = names(feature).zip(is_flattened());
    let named = named.filter_map(|(name, is_flattened)| (!is_flattened).then_some(name));
    let named = quote!((#(#named,)*));
    let flattened = names(feature).zip(is_flattened()).find(|(_, it)| *it);
    match flattened {
        Some((flattened, _)) => quote!((#named, #flattened)),
        None => named,
    }
}

/// The future of a call. Expands to
/// ```text
/// { let __future = async move { <call> }; let _: &dyn ::core::marker::Send = &__future; __future }
/// ```
/// The coercion requires `Send` at a place where rustc reports the value held across an `await`, and none of our types.
fn assert_send(ident: &Ident, call: &TokenStream) -> TokenStream {
    let span = ident.span();
    let future = quote_spanned!(span=> async move { #call });
    quote_spanned! {span=> {
        let __future = #future;
        let _: &dyn ::core::marker::Send = &__future;
        __future
    }}
}

/// The call of the user's function. Expands to
/// ```text
/// Self::forecast(&__state, <Context as ::treenail::context::FromCall>::from_call(&__call), __a0).await
/// ```
/// without the parts that the function does not have. A borrowed output is cloned.
fn call(krate: &Krate, feature: &Feature, target: Target<'_>) -> TokenStream {
    let ident = &feature.signature.ident;
    let function = match target {
        Target::None => quote!(#ident),
        Target::Type => quote!(Self::#ident),
        Target::Contract(of_trait) => quote!(<Self as #of_trait>::#ident),
    };
    let state = feature.signature.receiver().map(|_| match target {
        Target::None | Target::Type => quote!(&__state),
        Target::Contract(_) => quote!(__part(&__state)),
    });
    let context = if feature.stream.is_some() {
        quote!(__call.context())
    } else {
        quote!(&__call)
    };
    let mut names = names(feature);
    let inputs = feature.inputs.iter().map(|input| match input {
        Input::Call(CallInput { ty, .. }) => {
            let ty = &ty.elem;
            quote_spanned!(ty.span()=> <#ty as #krate::context::FromCall>::from_call(#context))
        }
        Input::Argument(_) => names.next().to_token_stream(),
    });
    let inputs = state.into_iter().chain(inputs);
    let dot_await = feature.signature.asyncness.map(|_| quote!(.await));
    let call = quote!(#function(#(#inputs),*) #dot_await);
    match &feature.output {
        Output::Borrowed(ty) => {
            quote_spanned!(ty.span()=> <#ty as ::std::borrow::ToOwned>::to_owned(#call))
        }
        _ => call,
    }
}

/// The names of the arguments in generated code, which cannot clash with the user's.
fn names(feature: &Feature) -> impl Iterator<Item = Ident> {
    (0..feature.arguments().count()).map(|index| format_ident!("__a{index}"))
}
