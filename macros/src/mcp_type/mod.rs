//! `#[mcp_type]`: derives the traits that arguments and outputs of tools need.

pub(crate) mod attributes;
mod bounds;
mod checked;
mod derives;
mod direction;
mod import;
mod nullable;
pub(crate) mod understood;
mod variants;

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Ident, Token, Visibility};

use self::direction::Direction;
use self::import::imported;
use crate::args::Keys;
use crate::diag::Sink;
use crate::krate::Krate;

/// Expands to
/// ```text
/// #[derive(::treenail::__private_0_1_0::serde::Serialize, …::Deserialize, …::schemars::JsonSchema)]
/// #[serde(crate = "::treenail::__private_0_1_0::serde")]
/// #[schemars(crate = "::treenail::__private_0_1_0::schemars")]
/// <item>
/// ```
/// so that the user's crate needs neither serde nor schemars among its dependencies. `input` leaves out `Serialize`, `output`
/// leaves out `Deserialize`. If fields have types of other crates or of the user, the derives are applied to copies of the item,
/// see [`checked`]. The copies are within a constant with the lint levels of the item.
pub(crate) fn mcp_type(args: TokenStream, item: &TokenStream) -> TokenStream {
    let mut sink = Sink::new();
    let mut keys = Keys::parse(args, &["input", "output", "crate"], &mut sink);
    let krate = keys.path("crate", &mut sink);
    let direction = Direction::parse(&mut keys, &mut sink);
    let derived = sink.ok(syn::parse2(item.clone())).map(|derivable| {
        let Derivable {
            attributes,
            name,
            rest,
        } = derivable;
        let (krate, import) = imported(krate, &name, &attributes);
        let attributes = checked_attributes(attributes, direction, &mut sink);
        let item = quote!(#(#attributes)* #rest);
        let item = bounds::reject_on_fields(item, &mut sink);
        let item = variants::keep_order(nullable::declare(&krate, item));
        let derived = derive(&krate, direction, &item);
        quote!(#import #derived)
    });
    sink.finish(
        &derived.unwrap_or_else(|| item.clone()),
        TokenStream::new,
        TokenStream::new,
    )
}

/// Returns the attributes without those that the macro has or derives itself, which are reported.
fn checked_attributes(
    mut attributes: Vec<Attribute>,
    direction: Direction,
    sink: &mut Sink,
) -> Vec<Attribute> {
    sink.reject_duplicates("mcp_type", &mut attributes);
    derives::reject_ours(&mut attributes, direction, sink);
    attributes
}

fn derive(krate: &Krate, direction: Direction, item: &TokenStream) -> TokenStream {
    let serde = quote!(#krate::__private_0_1_0::serde);
    let serialize = direction.writes().then(|| quote!(#serde::Serialize,));
    let deserialize = direction.reads().then(|| quote!(#serde::Deserialize,));
    let schemars = quote!(#krate::__private_0_1_0::schemars);
    let serde_crate = path_text(&serde);
    let serde_crate = quote!(#[serde(crate = #serde_crate)]);
    let schemars_crate = path_text(&schemars);
    let schemars_crate = quote!(#[schemars(crate = #schemars_crate)]);
    let Some(copies) = checked::copies(krate, direction, item) else {
        return quote! {
            #[derive(#serialize #deserialize #schemars::JsonSchema)]
            #serde_crate
            #schemars_crate
            #item
        };
    };
    let checked::Copies {
        plain,
        levels,
        for_serde,
        for_schema,
    } = copies;
    quote! {
        #plain

        #(#levels)*
        const _: () = {
            #[derive(#serialize #deserialize)]
            #serde_crate
            #[#krate::__discard]
            #for_serde

            #[derive(#schemars::JsonSchema)]
            #serde_crate
            #schemars_crate
            #[#krate::__discard]
            #for_schema
        };
    }
}

/// A path as a string, the form that the serde and schemars attributes take.
fn path_text(path: &TokenStream) -> String {
    path.to_token_stream().to_string().replace(' ', "")
}

/// A struct or an enum.
struct Derivable {
    attributes: Vec<Attribute>,
    name: Ident,
    /// The item after its attributes.
    rest: TokenStream,
}

impl Parse for Derivable {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let ahead = input.fork();
        ahead.parse::<Visibility>()?;
        if ahead.peek(Token![struct]) {
            ahead.parse::<Token![struct]>()?;
        } else if ahead.peek(Token![enum]) {
            ahead.parse::<Token![enum]>()?;
        } else {
            return Err(ahead.error("`#[mcp_type]` can only be applied to a struct or an enum"));
        }
        Ok(Self {
            attributes,
            name: ahead.parse()?,
            rest: input.parse()?,
        })
    }
}
