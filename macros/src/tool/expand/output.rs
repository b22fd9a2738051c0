//! Generated requirements on the type that a function returns.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;

use crate::krate::Krate;
use crate::signature::is_result;
use crate::tool::model::{Feature, Kind, Output};

use super::entry::Target;

/// Expands to
/// ```text
/// <Result<Forecast, WeatherError> as ::treenail::tool::ToolOutput<::treenail::__private_0_1_0::kind::FallibleOutput<_>>>::output(
///     ::treenail::__private_0_1_0::Returns::<Result<Forecast, WeatherError>>::__kind(),
/// )
/// ```
/// with `_` for a type without a name, which rustc infers from the handler. Prompts have no kinds.
pub(super) fn output(krate: &Krate, feature: &Feature, target: Target<'_>) -> TokenStream {
    let (ty, kind) = match &feature.output {
        Output::Opaque(ty) => {
            let any = quote_spanned!(ty.span()=> #krate::__private_0_1_0::Kind::any());
            (quote_spanned!(ty.span()=> _), any)
        }
        Output::Unit => returns(krate, &quote!(())),
        Output::Named(ty) => returns(krate, ty),
        Output::Borrowed(ty) => {
            let owned = quote_spanned!(ty.span()=> <#ty as ::std::borrow::ToOwned>::Owned);
            returns(krate, &owned)
        }
    };
    let span = ty.span();
    let of_kind = kind_parameter(krate, &ty);
    match feature.kind {
        Kind::Tool(_) => {
            let output = target.bound_for(
                quote_spanned!(span=> tool::ToolOutput<#of_kind>),
                quote_spanned!(span=> contract::ContractOutput<#of_kind, _>),
            );
            quote_spanned!(span=> <#ty as #krate::#output>::output(#kind))
        }
        Kind::Prompt => quote_spanned!(span=> <#ty as #krate::prompt::PromptOutput>::output()),
        Kind::Resource(_) => {
            quote_spanned!(span=> <#ty as #krate::resource::ResourceOutput<#of_kind>>::output(#kind))
        }
    }
}

/// A type, and an expression for its kind.
pub(super) fn returns(krate: &Krate, ty: &impl ToTokens) -> (TokenStream, TokenStream) {
    let ty = ty.to_token_stream();
    let kind = quote_spanned!(ty.span()=> #krate::__private_0_1_0::Returns::<#ty>::__kind());
    (ty, kind)
}

/// The parameter of an output trait: the kind of a visible `Result`, or `_`, which rustc infers.
///
/// A `Result` whose error has a schema but is no `Error` is a value too. If rustc infers the kind, it reports two kinds
/// that differ, in place of the error.
pub(crate) fn kind_parameter(krate: &Krate, ty: &impl ToTokens) -> TokenStream {
    let span = ty.span();
    match syn::parse2(ty.to_token_stream()) {
        Ok(ty) if is_result(&ty) => {
            let krate = krate.at(span);
            quote_spanned!(span=> #krate::__private_0_1_0::kind::FallibleOutput<_>)
        }
        _ => quote_spanned!(span=> _),
    }
}
