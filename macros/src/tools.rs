//! `tools!`: a list of functions that are tools.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Path, Token};

use crate::krate::Krate;

/// Expands to
/// ```text
/// {
///     const __NAMES: [&str; 2] = [<a as ::treenail::Tool>::NAME, <b::c as ::treenail::Tool>::NAME];
///     const _: () = assert!(!::treenail::__private::contains(<names before>, __NAMES[1]), "…");
///     ::treenail::ToolSet::from([
///         <a as ::treenail::Tool>::definition(), <b::c as ::treenail::Tool>::definition()
///     ])
/// }
/// ```
pub(crate) fn tools(input: TokenStream) -> TokenStream {
    let List { krate, paths } = match syn::parse2(input) {
        Ok(list) => list,
        Err(error) => return error.to_compile_error(),
    };
    let count = paths.len();
    let names = paths
        .iter()
        .map(|path| quote_spanned!(path.span()=> <#path as #krate::Tool>::NAME));
    let distinct = paths.iter().enumerate().skip(1).map(|(index, path)| {
        quote_spanned! {path.span()=>
            const _: () = ::core::assert!(
                !#krate::__private::contains(__NAMES.split_at(#index).0, __NAMES[#index]),
                "another tool in this list has the same name"
            );
        }
    });
    let definitions = paths
        .iter()
        .map(|path| quote_spanned!(path.span()=> <#path as #krate::Tool>::definition()));
    quote! {{
        const __NAMES: [&str; #count] = [#(#names),*];
        #(#distinct)*
        <#krate::ToolSet as ::core::convert::From<_>>::from([#(#definitions),*])
    }}
}

/// `a, b::c` or `crate = path; a, b::c`
struct List {
    krate: Krate,
    paths: Punctuated<Path, Token![,]>,
}

impl Parse for List {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut krate = None;
        if input.peek(Token![crate]) && input.peek2(Token![=]) {
            input.parse::<Token![crate]>()?;
            input.parse::<Token![=]>()?;
            krate = Some(input.call(Path::parse_mod_style)?);
            input.parse::<Token![;]>()?;
        }
        Ok(Self {
            krate: Krate::new(krate),
            paths: input.call(Punctuated::parse_terminated)?,
        })
    }
}
