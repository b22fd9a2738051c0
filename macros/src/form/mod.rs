//! `#[mcp_form]`: turns a struct into a form, and an enum into a choice within a form.

mod model;

mod foreign;

mod check;

mod expand;

#[cfg(test)]
mod tests;

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::Item;

use crate::args::Keys;
use crate::diag::Sink;
use crate::krate::Krate;

use self::model::{Choice, Form};

/// Expands `#[mcp_form(args)] item`.
pub(crate) fn mcp_form(args: TokenStream, item: &TokenStream) -> TokenStream {
    let mut sink = Sink::new();
    let mut keys = Keys::parse(args, &["crate"], &mut sink);
    let krate = Krate::new(keys.path("crate", &mut sink));
    let mut parsed = syn::parse2(item.clone());
    if let Ok(item) = &mut parsed {
        foreign::reject(item, &mut sink);
    }
    match parsed {
        Ok(Item::Struct(mut item)) => {
            sink.reject_duplicates("mcp_form", &mut item.attrs);
            let form = Form::read(&mut item, &mut sink);
            check::form(&form, &item, &mut sink);
            sink.finish(
                &item,
                || expand::form(&krate, &form, &item),
                || expand::form_stub(&krate, &item),
            )
        }
        Ok(Item::Enum(mut item)) => {
            sink.reject_duplicates("mcp_form", &mut item.attrs);
            let choice = Choice::read(&mut item, &mut sink);
            check::choice(&choice, &item, &mut sink);
            sink.finish(
                &item,
                || expand::choice(&krate, &choice, &item),
                || expand::choice_stub(&krate, &item),
            )
        }
        Ok(other) => {
            sink.error(
                first_token(&other),
                "`#[mcp_form]` can only be applied to a struct or to an enum without data",
            );
            sink.finish(item, TokenStream::new, TokenStream::new)
        }
        Err(error) => {
            sink.ok::<()>(Err(error));
            sink.finish(item, TokenStream::new, TokenStream::new)
        }
    }
}

fn first_token(item: &Item) -> TokenStream {
    let first = item.to_token_stream().into_iter().next();
    quote!(#first)
}
