//! What proposes values for an argument.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::Path;
use syn::spanned::Spanned;

use crate::krate::Krate;
use crate::tool::model::Argument;

/// Expands to
/// ```text
/// .complete("city", ::treenail::__private::Completer::new(
///     |__state: ::std::sync::Arc<Self>, __typed: ::treenail::Typed| async move {
///         <_ as ::treenail::Proposals<_>>::propose(Self::cities(&__state, &__typed)).await
///     },
/// ))
/// ```
/// where a function that is not `Self`'s takes `&__typed` alone.
pub(super) fn complete(krate: &Krate, argument: &Argument) -> Option<TokenStream> {
    let path = argument.complete.as_ref()?;
    let name = &argument.name.text;
    let state = is_method(path).then(|| quote!(&__state,));
    let proposed = quote_spanned! {path.span()=>
        <_ as #krate::__private::Proposals<_>>::propose(#path(#state &__typed))
    };
    Some(quote! {
        .complete(#name, #krate::__private::Completer::new(
            |__state: ::std::sync::Arc<Self>, __typed: #krate::Typed| async move {
                #proposed.await
            },
        ))
    })
}

/// Whether the path is `Self::name`, a method.
fn is_method(path: &Path) -> bool {
    path.segments
        .first()
        .is_some_and(|first| first.ident == "Self")
}
