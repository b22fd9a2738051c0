//! Completers: functions that propose values for an argument.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

use crate::krate::Krate;
use crate::tool::model::{Argument, is_method};

/// Expands to
/// ```text
/// .complete("city", ::treenail::__private_0_1_0::Completer::new(
///     |__state: ::std::sync::Arc<Self>, __typed: ::treenail::completion::CompletionRequest| async move {
///         <_ as ::treenail::completion::IntoCompletions<_>>::into_completions(Self::cities(
///             &__state, <_ as ::treenail::completion::FromCompletionRequest>::from_request(&__typed),
///         )).await
///     },
/// ))
/// ```
/// A function outside of `Self` takes no `&__state`.
pub(super) fn complete(krate: &Krate, argument: &Argument) -> Option<TokenStream> {
    let path = argument.complete.as_ref()?;
    let name = &argument.name.text;
    let state = is_method(path).then(|| quote!(&__state,));
    let typed = quote!(&__typed);
    let proposed = quote_spanned! {path.span()=>
        <_ as #krate::completion::IntoCompletions<_>>::into_completions(
            #path(#state <_ as #krate::completion::FromCompletionRequest>::from_request(#typed))
        )
    };
    Some(quote! {
        .complete(#name, #krate::__private_0_1_0::Completer::new(
            |__state: ::std::sync::Arc<Self>, __typed: #krate::completion::CompletionRequest| async move {
                #proposed.await
            },
        ))
    })
}
