//! Report of the answers that a mock does not have.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::ext::IdentExt;

use crate::client::model::{Contract, Entry};
use crate::client::parse::Trait;
use crate::krate::Krate;

/// The implementation of `Mocked`, which reports missing answers. Expands to
/// ```text
/// impl ::treenail::__private_0_1_0::Mocked for MockWeatherApi {
///     fn empty() -> Self { Self::new() }
///     fn missing(&self, __tool: &str) -> Option<String> {
///         if __tool == "forecast" && self.forecast.is_none() { return Some(…); }
///         if let Some(__tool) = __tool.strip_prefix("alerts.") { return self.alerts.missing(__tool); }
///         None
///     }
/// }
/// ```
pub(super) fn mocked(
    krate: &Krate,
    contract: &Contract,
    item: &Trait,
    mock: &Ident,
) -> TokenStream {
    let checks = contract
        .methods
        .iter()
        .map(|entry| missing_check(krate, entry, mock));
    let cfg = item.shared();
    quote! {
        #(#cfg)*
        #[automatically_derived]
        impl #krate::__private_0_1_0::Mocked for #mock {
            fn empty() -> Self {
                Self::new()
            }

            #[allow(unused_variables, reason = "methods may be disabled by `cfg`")]
            fn missing(&self, __tool: &::core::primitive::str) -> ::core::option::Option<::std::string::String> {
                #(#checks)*
                ::core::option::Option::None
            }
        }
    }
}

/// Emits the check for a missing answer of one method.
fn missing_check(krate: &Krate, entry: &Entry, mock: &Ident) -> TokenStream {
    let (cfg, field) = (entry.cfg(), &entry.signature().ident);
    match entry {
        Entry::Tool(tool) => {
            let (name, mock) = (&tool.feature.name.text, mock.to_string());
            let method = field.unraw().to_string();
            quote! {
                #(#cfg)*
                if __tool == #name && ::core::option::Option::is_none(&self.#field) {
                    return ::core::option::Option::Some(#krate::__private_0_1_0::missing_answer(#mock, #method));
                }
            }
        }
        Entry::Part(part) => {
            let prefix = format!("{}.", part.name.text);
            quote! {
                #(#cfg)*
                if let ::core::option::Option::Some(__tool) = __tool.strip_prefix(#prefix) {
                    return #krate::__private_0_1_0::Mocked::missing(&self.#field, __tool);
                }
            }
        }
    }
}
