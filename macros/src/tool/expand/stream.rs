//! A tool that streams: how its items are described, and how they are gathered.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;

use crate::krate::Krate;
use crate::tool::model::stream::Stream;
use crate::tool::model::{Feature, Output};

use super::entry::{Host, returns};

/// Expands to
/// ```text
/// let __items = <Frame as ::treenail::ToolItem<_>>::items(
///     ::treenail::__private::Returns::<Frame>::kind(),
///     ::core::option::Option::Some(::treenail::__private::Fold::Last),
/// );
/// ```
/// or, if the type of the items has no name, to the same with `_`, which the handler will tell; the type of the stream
/// may still tell their kind.
pub(super) fn items(krate: &Krate, feature: &Feature, host: Host) -> Option<TokenStream> {
    let stream = feature.stream.as_ref()?;
    let fold = fold(krate, stream);
    let (item, kind) = match (&stream.item, &feature.output) {
        (Some(item), _) => returns(krate, item),
        (None, Output::Named(ty)) => {
            let kind =
                quote_spanned!(ty.span()=> <#ty as #krate::ToolStream<_, _>>::item().item_kind());
            (quote_spanned!(ty.span()=> _), kind)
        }
        (None, _) => (quote!(_), quote!(#krate::__private::Kind::any())),
    };
    let span = item.span();
    let asked = host.asks(
        quote_spanned!(span=> ToolItem<_>),
        quote_spanned!(span=> ContractItem<_, _>),
    );
    Some(quote_spanned! {span=>
        let __items = <#item as #krate::#asked>::items(#kind, #fold);
    })
}

/// How the items become one result, if that is said.
pub(crate) fn fold(krate: &Krate, stream: &Stream) -> TokenStream {
    match stream.fold {
        None => quote!(::core::option::Option::None),
        Some(fold) => {
            let fold = format_ident!("{fold}");
            quote!(::core::option::Option::Some(#krate::__private::Fold::#fold))
        }
    }
}

/// What the handler does with what the function returns. Expands to
/// ```text
/// <BoxStream<'_, Frame> as ::treenail::ToolStream<_, _>>::gather(<call>, __items, &__call).await
/// ```
/// with `_` for a type without a name. All of it happens where the function was called, so the stream may borrow from
/// what the function was given.
pub(super) fn gather(krate: &Krate, feature: &Feature, call: &TokenStream) -> TokenStream {
    let ty = match &feature.output {
        Output::Named(ty) => quote_spanned!(ty.span()=> #ty),
        Output::Opaque(ty) => quote_spanned!(ty.span()=> _),
        Output::Unit | Output::Borrowed(_) => quote!(_),
    };
    let gather = quote_spanned!(ty.span()=> <#ty as #krate::ToolStream<_, _>>::gather);
    quote!(#gather(#call, __items, &__call).await)
}
