//! Enumerations of strings.

use std::collections::BTreeSet;

use anyhow::{Context, Result, ensure};
use proc_macro2::TokenStream;
use quote::quote;

use super::{Input, doc, ident};

/// Renders the enumeration `name` with its values in the overlay's order, or else by name.
pub(super) fn render(
    input: Input<'_>,
    name: &str,
    values: &BTreeSet<String>,
) -> Result<TokenStream> {
    let mut order: Vec<&String> = values.iter().collect();
    if let Some(better) = input.overlay.order(name) {
        ensure!(
            better.len() == values.len(),
            "the order of {name} does not list all values"
        );
        order = better.iter().collect();
    }
    let idents = order
        .iter()
        .map(|value| variant(input, name, value))
        .collect::<Result<Vec<_>>>()?;
    let docs = doc(input.overlay.docs(name).unwrap_or_default());
    let default = input.overlay.default(name);
    let derive_default = default.map(|_| quote! { Default, });
    let variants = order.iter().zip(&idents).map(|(value, ident)| {
        let docs = input.overlay.docs(&format!("{name}.{value}"));
        let docs = doc(&docs.map_or_else(|| format!("The value `{value}`."), str::to_owned));
        let default = (default == Some(*value)).then(|| quote! { #[default] });
        quote! { #docs #default #ident }
    });
    let name = ident(name);
    let names = names(&name, &order, &idents);
    Ok(quote! {
        #docs
        #[derive(
            Clone, Copy, Debug, #derive_default PartialEq, Eq, PartialOrd, Ord, Hash,
        )]
        #[non_exhaustive]
        pub enum #name { #(#variants,)* }

        choice! { #name { #(#order => #idents),* } }

        #names
    })
}

/// Typify's name for a value.
fn variant<'a>(input: Input<'a>, name: &str, value: &str) -> Result<&'a syn::Ident> {
    let variants = input.types.choices.get(name);
    let variants = variants.with_context(|| format!("typify lost {name}"))?;
    let variant = variants.iter().find(|variant| variant.value == value);
    Ok(&variant
        .with_context(|| format!("{name} has no value `{value}`"))?
        .ident)
}

fn names(name: &syn::Ident, values: &[&String], idents: &[&syn::Ident]) -> TokenStream {
    quote! {
        impl #name {
            /// Returns the value in JSON.
            pub fn as_str(self) -> &'static str {
                match self { #(Self::#idents => #values,)* }
            }
        }

        impl std::fmt::Display for #name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    }
}
