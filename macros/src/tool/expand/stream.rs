//! Streaming tools: the definition of their items, and the code that collects them.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;

use crate::krate::Krate;
use crate::tool::model::stream::Stream;
use crate::tool::model::{Feature, Output};

use super::entry::Target;
use super::output::{kind_parameter, returns};

/// Expands to
/// ```text
/// let __items = <Frame as ::treenail::tool::ToolItem<_>>::items(
///     ::treenail::__private_0_1_0::Returns::<Frame>::__kind(),
///     ::core::option::Option::Some(::treenail::__private_0_1_0::Fold::Last),
/// );
/// ```
/// with `_` for an item type without a name, which rustc infers from the handler. Its kind can still follow from the type
/// of the stream.
pub(super) fn items(krate: &Krate, feature: &Feature, target: Target<'_>) -> Option<TokenStream> {
    let stream = feature.stream.as_ref()?;
    let fold = fold(krate, stream);
    let (item, kind) = match (&stream.item, &feature.output) {
        (Some(item), _) => returns(krate, item),
        (None, Output::Named(ty)) => {
            let kind = quote_spanned!(ty.span()=> <#ty as #krate::tool::ToolStream<_, _>>::item().__item_kind());
            (quote_spanned!(ty.span()=> _), kind)
        }
        (None, _) => (quote!(_), quote!(#krate::__private_0_1_0::Kind::any())),
    };
    let span = item.span();
    let of_kind = kind_parameter(krate, &item);
    let asked = target.bound_for(
        quote_spanned!(span=> tool::ToolItem<#of_kind>),
        quote_spanned!(span=> contract::ContractItem<#of_kind, _>),
    );
    let value = quote_spanned!(span=> <#item as #krate::#asked>::items(#kind, #fold));
    Some(quote!(let __items = #value;))
}

/// The fold that combines the items into one result, if one is given.
pub(crate) fn fold(krate: &Krate, stream: &Stream) -> TokenStream {
    match stream.fold {
        None => quote!(::core::option::Option::None),
        Some(fold) => {
            let fold = format_ident!("{fold}");
            quote!(::core::option::Option::Some(#krate::__private_0_1_0::Fold::#fold))
        }
    }
}

/// Collects the returned stream in the handler. Expands to
/// ```text
/// <BoxStream<'_, Frame> as ::treenail::tool::ToolStream<_, _>>::collect_items(<call>, __items, &__call).await
/// ```
/// with `_` for a type without a name. The stream is polled where the function was called, so it may borrow from the
/// function's parameters.
pub(super) fn collect_items(krate: &Krate, feature: &Feature, call: &TokenStream) -> TokenStream {
    let ty = match &feature.output {
        Output::Named(ty) => quote_spanned!(ty.span()=> #ty),
        Output::Opaque(ty) => quote_spanned!(ty.span()=> _),
        Output::Unit | Output::Borrowed(_) => quote!(_),
    };
    let collect_items =
        quote_spanned!(ty.span()=> <#ty as #krate::tool::ToolStream<_, _>>::collect_items);
    quote!(#collect_items(#call, __items, &__call).await)
}
