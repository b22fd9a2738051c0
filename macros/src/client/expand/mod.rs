//! Generated code for contracts. Expansion is infallible, since the rules have been checked.
//!
//! `server` extends the trait; `client` and `mock` generate types next to it. The latter two are omitted if `treenail` is
//! built without its client. `stub` generates them for a trait with mistakes.

mod client;
mod mock;
mod server;
mod stub;

use proc_macro2::TokenStream;
use quote::quote;

use crate::krate::Krate;

use super::model::Contract;
use super::parse::Trait;

pub(crate) use self::server::{implementation, members, part_types, rewrite};
pub(crate) use self::stub::{members_stub, stubs};

/// The generated types next to the trait: its client and its mock.
pub(crate) fn halves(krate: &Krate, contract: &Contract, item: &Trait) -> TokenStream {
    if !cfg!(feature = "client") {
        return TokenStream::new();
    }
    let functions = client::functions(krate, item);
    let client = client::client(krate, contract, item, &functions);
    let mock = mock::mock(krate, contract, item);
    quote!(#client #mock)
}
