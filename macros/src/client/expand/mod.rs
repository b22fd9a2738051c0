//! Generated code for contracts. It cannot fail: the rules have been checked.
//!
//! `server` is what the trait gets, `client` and `mock` what stands beside it. The latter two are left out where the
//! crate is built without its client.

#[cfg(feature = "client")]
mod client;
#[cfg(feature = "client")]
mod mock;
mod server;

use proc_macro2::TokenStream;
#[cfg(feature = "client")]
use quote::quote;

#[cfg(feature = "client")]
use crate::krate::Krate;

#[cfg(feature = "client")]
use super::model::Contract;
#[cfg(feature = "client")]
use super::parse::Trait;

pub(crate) use self::server::{implementation, members, part_types, rewrite};

/// What stands beside the trait: its client and its mock.
#[cfg(feature = "client")]
pub(crate) fn halves(krate: &Krate, contract: &Contract, item: &Trait) -> TokenStream {
    let client = client::client(krate, contract, item);
    let mock = mock::mock(krate, contract, item);
    quote!(#client #mock)
}

/// The same as [`halves`], with no methods of the trait.
#[cfg(feature = "client")]
pub(crate) fn stubs(krate: &Krate, item: &Trait) -> TokenStream {
    let nothing = Contract {
        namespace: None,
        instructions: None,
        methods: Vec::new(),
    };
    let client = client::client(krate, &nothing, item);
    let mock = mock::inherent(krate, &nothing, item);
    quote!(#client #mock)
}

/// Nothing, without the client.
#[cfg(not(feature = "client"))]
pub(crate) fn halves(
    _: &crate::krate::Krate,
    _: &super::model::Contract,
    _: &super::parse::Trait,
) -> TokenStream {
    TokenStream::new()
}

/// Nothing, without the client.
#[cfg(not(feature = "client"))]
pub(crate) fn stubs(_: &crate::krate::Krate, _: &super::parse::Trait) -> TokenStream {
    TokenStream::new()
}
