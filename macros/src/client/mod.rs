//! `#[mcp_client]`: turns a trait into a contract, with a server half to implement and a generated client half.

mod parse;

mod model;

mod check;

mod expand;

mod implement;

use proc_macro2::TokenStream;
use quote::quote;

use crate::args::Keys;
use crate::diag::Sink;
use crate::krate::Krate;

pub(crate) use self::implement::implement;
use self::model::Contract;
use self::parse::{Member, Trait};

/// Expands `#[mcp_client(args)] item`.
pub(crate) fn mcp_client(args: TokenStream, item: &TokenStream) -> TokenStream {
    let mut item = match syn::parse2::<Trait>(item.clone()) {
        Ok(item) => item,
        Err(error) => {
            let error = error.to_compile_error();
            return quote!(#item #error);
        }
    };
    let mut sink = Sink::new();
    let mut keys = Keys::parse(args, &["namespace", "crate"], &mut sink);
    let krate = Krate::new(keys.path("crate", &mut sink));
    check::async_trait::reject(&mut item.attributes, &mut sink);
    let mut contract = Contract::read(&mut item, &mut keys, &krate, &mut sink);
    let is_sound = check::contract(&contract, &item, &mut sink);
    expand::rewrite(&contract, &mut item);
    contract.set_aside(&is_sound);
    let members = if sink.is_clean() {
        Some(expand::members(&krate, &contract, &item.ident))
    } else {
        expand::members_stub(&krate, &contract)
    };
    item.members.extend(members.map(Member::Ours));
    sink.finish(
        &item,
        || expand::halves(&krate, &contract, &item),
        || expand::stubs(&krate, &contract, &item),
    )
}
