//! Marker types for requests and notifications.

use std::collections::BTreeSet;

use proc_macro2::TokenStream;
use quote::quote;

use super::{doc, ident};
use crate::hub::Hub;
use crate::methods::Method;
use crate::types::rust_name;

/// Writes a marker for every method.
pub(super) fn render(hub: &Hub) -> TokenStream {
    let markers = hub.methods.iter().map(marker);
    let names = hub.methods.iter().flat_map(|method| {
        std::iter::once(&method.params)
            .chain(&method.result)
            .map(|name| rust_name(name))
    });
    let names: BTreeSet<String> = names.collect();
    let names = names.iter().map(|name| ident(name));
    quote! {
        use crate::{MaybeInputRequired, Notification, Request, #(#names),*};

        #(#markers)*
    }
}

fn marker(method: &Method) -> TokenStream {
    let name = ident(&method.definition);
    let wire_name = &method.wire_name;
    let params = ident(&rust_name(&method.params));
    let kind = if method.result.is_some() {
        "request"
    } else {
        "notification"
    };
    let docs = doc(&format!(
        "The {kind} `{wire_name}`, sent by {}.",
        senders(method)
    ));
    let body = if let Some(result) = &method.result {
        let result = ident(&rust_name(result));
        let response = if method.input_required {
            quote! { MaybeInputRequired<#result> }
        } else {
            quote! { #result }
        };
        quote! {
            impl Request for #name {
                const METHOD: &'static str = #wire_name;
                type Params = #params;
                type Result = #result;
                type Response = #response;
            }
        }
    } else {
        quote! {
            impl Notification for #name {
                const METHOD: &'static str = #wire_name;
                type Params = #params;
            }
        }
    };
    quote! {
        #docs
        #[derive(Clone, Copy, Debug)]
        pub enum #name {}
        #body
    }
}

fn senders(method: &Method) -> &'static str {
    match (method.from_client.is_empty(), method.from_server.is_empty()) {
        (false, true) => "the client",
        (true, false) => "the server",
        _ => "either side",
    }
}
