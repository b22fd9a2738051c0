//! Import of a `$crate` path, which is no text that the derives of serde and schemars can parse.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::{Attribute, Path};

use crate::cfg_attr;
use crate::krate::Krate;

/// Returns the path of the crate for the derives of the type `name`, and its import if they cannot parse the given one.
pub(super) fn imported(
    given: Option<Path>,
    name: &Ident,
    attributes: &[Attribute],
) -> (Krate, Option<TokenStream>) {
    let first = given.as_ref().and_then(|path| path.segments.first());
    if first.is_none_or(|first| first.ident != "$crate") {
        return (Krate::new(given), None);
    }
    let cfgs = cfg_attr::cfgs(attributes);
    let import = format_ident!("__treenail_of_{}", name);
    let path = given.to_token_stream();
    let tokens = quote! {
        #(#cfgs)*
        use #path as #import;
    };
    (Krate::new(Some(import.into())), Some(tokens))
}
