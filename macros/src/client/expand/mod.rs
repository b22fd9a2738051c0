//! Generated code for contracts. Expansion is infallible, since the rules have been checked.
//!
//! `server` extends the trait; `client` and `mock` generate types next to it. The latter two are omitted if `treenail` is
//! built without its client.

mod client;
mod mock;
mod server;

use proc_macro2::TokenStream;
use quote::quote;

use crate::krate::Krate;

use super::model::Contract;
use super::parse::Trait;

pub(crate) use self::server::{implementation, members, part_types, rewrite};

/// The generated types next to the trait: its client and its mock.
pub(crate) fn halves(krate: &Krate, contract: &Contract, item: &Trait) -> TokenStream {
    if !cfg!(feature = "client") {
        return TokenStream::new();
    }
    let client = client::client(krate, contract, item);
    let mock = mock::mock(krate, contract, item);
    quote!(#client #mock)
}

/// Stub of [`halves`]: the same types, without the methods of the trait.
pub(crate) fn stubs(krate: &Krate, item: &Trait) -> TokenStream {
    if !cfg!(feature = "client") {
        return TokenStream::new();
    }
    let nothing = Contract {
        namespace: None,
        instructions: None,
        methods: Vec::new(),
    };
    let client = client::client(krate, &nothing, item);
    let mock = mock::inherent(krate, &nothing, item);
    quote!(#client #mock)
}
