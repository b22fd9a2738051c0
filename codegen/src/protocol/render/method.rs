//! The enumeration of all methods, and marker types for requests and notifications.

use std::collections::BTreeSet;

use proc_macro2::TokenStream;
use quote::quote;

use super::{doc, ident};
use crate::protocol::merge::Merged;
use crate::protocol::methods::Method;
use crate::protocol::types::rust_name;

/// Renders the enumeration, and a marker type for every method.
pub(super) fn render(merged: &Merged) -> TokenStream {
    let methods = enumeration(&merged.methods);
    let markers = merged.methods.iter().map(marker);
    let names = merged.methods.iter().flat_map(|method| {
        std::iter::once(&method.params)
            .chain(&method.result)
            .map(|name| rust_name(name))
    });
    let names: BTreeSet<String> = names.collect();
    let names = names.iter().map(|name| ident(name));
    quote! {
        use crate::{MaybeInputRequired, Notification, Request, #(#names),*};

        #methods

        #(#markers)*
    }
}

fn enumeration(methods: &[Method]) -> TokenStream {
    let variants: Vec<_> = methods.iter().map(variant).collect();
    let names: Vec<_> = methods.iter().map(|method| &method.wire_name).collect();
    let docs = methods
        .iter()
        .map(|method| doc(&format!("The {} `{}`.", kind(method), method.wire_name)));
    quote! {
        /// A request or notification of any revision.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Method { #(#docs #variants),* }

        impl Method {
            /// All methods.
            pub const ALL: &'static [Self] = &[#(Self::#variants),*];

            /// Returns the method with this name on the wire.
            pub fn from_name(name: &str) -> Option<Self> {
                Some(match name {
                    #(#names => Self::#variants,)*
                    _ => return None,
                })
            }

            /// Returns the name on the wire, as in `tools/call`.
            pub const fn as_str(self) -> &'static str {
                match self {
                    #(Self::#variants => #names,)*
                }
            }
        }
    }
}

/// `CallTool` for `CallToolRequest`.
pub(super) fn variant(method: &Method) -> syn::Ident {
    let name = method.definition.as_str();
    let stem = name
        .strip_suffix("Request")
        .or_else(|| name.strip_suffix("Notification"));
    ident(stem.unwrap_or(name))
}

fn kind(method: &Method) -> &'static str {
    if method.result.is_some() {
        "request"
    } else {
        "notification"
    }
}

fn marker(method: &Method) -> TokenStream {
    let name = ident(&method.definition);
    let kind = kind(method);
    let docs = format!(
        "The {kind} `{}`, sent by {}.",
        method.wire_name,
        senders(method)
    );
    let docs = doc(&docs);
    let implementation = implementation(method);
    quote! {
        #docs
        #[derive(Clone, Copy, Debug)]
        pub enum #name {}

        #implementation
    }
}

fn implementation(method: &Method) -> TokenStream {
    let name = ident(&method.definition);
    let wire_name = &method.wire_name;
    let params = ident(&rust_name(&method.params));
    let Some(result) = &method.result else {
        return quote! {
            impl Notification for #name {
                const METHOD: &'static str = #wire_name;
                type Params = #params;
            }
        };
    };
    let result = ident(&rust_name(result));
    // A reader of its own, for the method whose results a client reads most.
    let reader = (method.wire_name == "tools/call").then(|| {
        quote! {
            #[cfg(feature = "client")]
            fn read_result(text: &str) -> serde_json::Result<#result> {
                crate::read_call::call_tool_result(text)
            }
        }
    });
    let mut response = quote! { #result };
    if method.input_required {
        response = quote! { MaybeInputRequired<#result> };
    }
    quote! {
        impl Request for #name {
            const METHOD: &'static str = #wire_name;
            type Params = #params;
            type Result = #result;
            type Response = #response;
            #reader
        }
    }
}

fn senders(method: &Method) -> &'static str {
    match (method.from_client.is_empty(), method.from_server.is_empty()) {
        (false, true) => "the client",
        (true, false) => "the server",
        _ => "either side",
    }
}
