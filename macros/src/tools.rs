//! `tools!`: a set of tools from a list of functions.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{Ident, Path, Token, token};

use crate::krate::Krate;

/// Expands to
/// ```text
/// {
///     const __NAMES: [&str; 2] = [<a as ::treenail::tool::Tool>::NAME, <b::c as ::treenail::tool::Tool>::NAME];
///     const _: () = assert!(!::treenail::__private_0_1_0::contains(<names before>, __NAMES[1]), "…");
///     ::treenail::tool::ToolSet::from([
///         <a as ::treenail::tool::Tool>::definition(), <b::c as ::treenail::tool::Tool>::definition()
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
        .map(|path| quote_spanned!(path.span()=> <#path as #krate::tool::Tool>::NAME));
    // Without the span of a raw identifier, which clippy would take for that of a raw string.
    let message = quote!("another tool in this list has the same name");
    let distinct = paths.iter().enumerate().skip(1).map(|(index, path)| {
        quote_spanned! {path.span()=>
            const _: () = ::core::assert!(
                !#krate::__private_0_1_0::contains(__NAMES.split_at(#index).0, __NAMES[#index]),
                #message
            );
        }
    });
    let definitions = paths
        .iter()
        .map(|path| quote_spanned!(path.span()=> <#path as #krate::tool::Tool>::definition()));
    quote! {{
        const __NAMES: [&::core::primitive::str; #count] = [#(#names),*];
        #(#distinct)*
        <#krate::tool::ToolSet as ::core::convert::From<_>>::from([#(#definitions),*])
    }}
}

/// `a, b::c` or `crate = path; a, b::c`
struct List {
    krate: Krate,
    paths: Vec<Path>,
}

impl Parse for List {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut krate = None;
        if input.peek(Token![crate]) && input.peek2(Token![=]) {
            input.parse::<Token![crate]>()?;
            input.parse::<Token![=]>()?;
            krate = Some(input.call(Path::parse_mod_style)?);
            if !input.peek(Token![;]) {
                return Err(input.error("the functions follow a semicolon; write `;`"));
            }
            input.parse::<Token![;]>()?;
        }
        let mut paths = Vec::new();
        while !input.is_empty() {
            paths.push(function(input)?);
            if !input.is_empty() {
                comma(input)?;
            }
        }
        Ok(Self {
            krate: Krate::new(krate),
            paths,
        })
    }
}

/// The path of a function.
fn function(input: ParseStream<'_>) -> syn::Result<Path> {
    if !input.peek(Ident::peek_any) && !input.peek(Token![::]) && !input.peek(Token![<]) {
        let write =
            "a function is listed by its path; write its name, as in `tools![add, text::search]`";
        return Err(input.error(write));
    }
    let path: Path = input.parse()?;
    match owner(&path) {
        Some(owner) => {
            let write = format!(
                "the methods of a type are its tools; write `.mount(…)` with a value of `{owner}`"
            );
            Err(syn::Error::new_spanned(path, write))
        }
        None => Ok(path),
    }
}

/// Returns the type in the path of a method. Its name starts with a capital letter, and that of a module does not.
fn owner(path: &Path) -> Option<&Ident> {
    let owner = &path.segments.iter().nth_back(1)?.ident;
    let is_type = owner.to_string().starts_with(char::is_uppercase);
    is_type.then_some(owner)
}

/// Parses the comma between two functions.
fn comma(input: ParseStream<'_>) -> syn::Result<()> {
    if input.peek(token::Paren) {
        return Err(input.error("functions are listed, not called; remove the parentheses"));
    }
    if !input.peek(Token![,]) {
        return Err(input.error("functions are separated by commas; write `,`"));
    }
    input.parse::<Token![,]>().map(drop)
}
