//! Stubs for a contract with mistakes, so that its implementations and the uses of its client and its mock have no further errors.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::ReceiverKind;

use crate::krate::Krate;
use crate::signature::keyword_in;

use super::super::model::{Contract, Entry, other_members};
use super::super::parse::Trait;
use super::{client, mock, server};

/// Stub of [`members`](server::members): a contract without tools, unless a method has the name of the list.
pub(crate) fn members_stub(krate: &Krate, contract: &Contract) -> Option<TokenStream> {
    let fields = quote! {
        namespace: "",
        instructions: "",
        tools: || ::std::vec::Vec::new(),
    };
    let allow = quote!(#[allow(unused_variables, reason = "there are no tools")]);
    let list = quote!(::std::vec::Vec::new());
    has_list(contract).then(|| server::members_with(krate, &fields, &allow, &list))
}

/// Returns `true` if the trait has the generated function that lists its tools.
fn has_list(contract: &Contract) -> bool {
    let mut unsound = contract.unsound.iter();
    !unsound.any(|entry| entry.signature().ident == "mcp_tools")
}

/// Stub of [`halves`](super::halves): the same types, without the methods that have mistakes in their types.
pub(crate) fn stubs(krate: &Krate, contract: &Contract, item: &Trait) -> TokenStream {
    if !cfg!(feature = "client") {
        return TokenStream::new();
    }
    let function = client::contract_function(krate, item, &quote!(loop {}));
    let has_list = item.generics.params.is_empty() && has_list(contract);
    let tools = has_list.then(|| client::tools(krate, item));
    let client = client::client(krate, contract, item, &quote!(#function #tools));
    let inherent = mock::inherent(krate, contract, item);
    let mock = format_ident!("Mock{}", item.ident);
    let implementation = implementation(krate, contract, item, &mock);
    let attributes = item.shared();
    quote! {
        #client
        #inherent
        #implementation

        #(#attributes)*
        #[automatically_derived]
        impl #krate::server::Mount for #mock {
            const NAMESPACE: &'static ::core::primitive::str = "";
            const INSTRUCTIONS: &'static ::core::primitive::str = "";
        }
    }
}

/// The trait for its mock, if the trait is one that can be implemented.
fn implementation(
    krate: &Krate,
    contract: &Contract,
    item: &Trait,
    mock: &Ident,
) -> Option<TokenStream> {
    let (ident, generics) = (&item.ident, &item.generics.params);
    let has_others = item.safety.is_some() || other_members(item).next().is_some();
    if !generics.is_empty() || has_others || !has_list(contract) {
        return None;
    }
    let sound = contract.methods.iter().map(|entry| {
        let of_mock = || mock::method(krate, entry, (ident, mock));
        method(entry).or_else(|| is_shared(entry).then(of_mock))
    });
    let methods: Option<Vec<_>> = sound.chain(contract.unsound.iter().map(method)).collect();
    let (methods, attributes) = (methods?, item.shared());
    Some(quote! {
        #(#attributes)*
        #[automatically_derived]
        #[allow(deprecated, unused_variables, reason = "the methods are never called")]
        impl #ident for #mock {
            #(#methods)*
        }
    })
}

/// Returns `true` for a method with `&self`.
fn is_shared(entry: &Entry) -> bool {
    let receiver = entry.signature().receiver();
    receiver.is_some_and(|it| matches!(it.kind, ReceiverKind::Reference(_, None, None)))
}

/// A method that never returns, with the signature in the trait, if such a method has the returned type.
fn method(entry: &Entry) -> Option<TokenStream> {
    let Entry::Tool(tool) = entry else {
        return None;
    };
    let (cfg, signature) = (tool.feature.shared(), &tool.feature.signature);
    let is_unnamed = keyword_in(signature.output.to_token_stream(), "impl").is_some();
    let is_incomplete = keyword_in(signature.to_token_stream(), "_").is_some();
    (!is_unnamed && !is_incomplete).then(|| quote!(#(#cfg)* #signature { loop {} }))
}
