//! Answers of a mock: their types, and the methods that set them.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::ext::IdentExt;

use crate::client::model::{Entry, Tool};
use crate::client::parse::Trait;
use crate::krate::Krate;

use super::super::client::returned;
use super::mock_of;

/// `dyn Fn(String) -> Result<Forecast, E> + Send + Sync`
pub(super) fn answer(krate: &Krate, tool: &Tool) -> TokenStream {
    let inputs = tool.parameters.iter().map(|parameter| &parameter.ty);
    let returned = returned(tool);
    let returned = if tool.feature.stream.is_some() {
        quote!(#krate::__private_0_1_0::MockStream<#returned>)
    } else {
        quote!(#returned)
    };
    quote! {
        dyn ::core::ops::Fn(#(#inputs),*) -> #returned + ::core::marker::Send + ::core::marker::Sync
    }
}

/// The method that sets the answer: `on_forecast`.
pub(super) fn setter(krate: &Krate, entry: &Entry, item: &Trait) -> TokenStream {
    let (cfg, vis, ident) = (entry.shared(), &item.visibility, &entry.signature().ident);
    let (setter, name) = (setter_name(ident), ident.to_string());
    let function = match entry {
        Entry::Part(part) => {
            let mock = mock_of(krate, part);
            let doc = format!("Sets the mock that `{name}` returns.");
            quote! {
                #[doc = #doc]
                #[must_use]
                #vis fn #setter(mut self, answer: #mock) -> Self {
                    self.#ident = answer;
                    self
                }
            }
        }
        Entry::Tool(tool) if tool.feature.stream.is_some() => items_setter(krate, tool, item),
        Entry::Tool(tool) => {
            let inputs = tool.parameters.iter().map(|parameter| &parameter.ty);
            let returned = returned(tool);
            let doc = format!(
                "Sets the function that computes the output of `{name}` from the arguments."
            );
            quote! {
                #[doc = #doc]
                #[must_use]
                #vis fn #setter(
                    mut self,
                    answer: impl ::core::ops::Fn(#(#inputs),*) -> #returned
                        + ::core::marker::Send
                        + ::core::marker::Sync
                        + 'static,
                ) -> Self {
                    self.#ident = ::core::option::Option::Some(::std::sync::Arc::new(answer));
                    self
                }
            }
        }
    };
    quote!(#(#cfg)* #function)
}

/// Like [`setter`], for a tool that streams.
fn items_setter(krate: &Krate, tool: &Tool, item: &Trait) -> TokenStream {
    let (vis, ident) = (&item.visibility, &tool.feature.signature.ident);
    let (setter, returned) = (setter_name(ident), returned(tool));
    let types: Vec<_> = tool
        .parameters
        .iter()
        .map(|parameter| &parameter.ty)
        .collect();
    let names: Vec<_> = tool
        .parameters
        .iter()
        .map(|parameter| &parameter.ident)
        .collect();
    let doc = format!("Sets the function that computes the items of `{ident}` from the arguments.");
    quote! {
        #[doc = #doc]
        #[must_use]
        #vis fn #setter<__Items>(
            mut self,
            __answer: impl ::core::ops::Fn(#(#types),*) -> __Items
                + ::core::marker::Send
                + ::core::marker::Sync
                + 'static,
        ) -> Self
        where
            __Items: ::core::iter::IntoIterator<Item = #returned>,
            __Items::IntoIter: ::core::marker::Send + 'static,
        {
            self.#ident = ::core::option::Option::Some(::std::sync::Arc::new(
                move |#(#names: #types),*| #krate::__private_0_1_0::MockStream::new(__answer(#(#names),*)),
            ));
            self
        }
    }
}

fn setter_name(method: &Ident) -> Ident {
    format_ident!("on_{}", method.unraw(), span = method.span())
}
