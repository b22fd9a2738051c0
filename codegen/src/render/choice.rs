//! Enumerations of strings.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use proc_macro2::TokenStream;
use quote::quote;

use super::{Input, doc, ident};
use crate::revisions::RevisionSet;

/// Writes the enumeration `name` with its values in the overlay's order, or else by name.
pub(super) fn render(
    input: Input<'_>,
    name: &str,
    values: &BTreeMap<String, RevisionSet>,
) -> Result<TokenStream> {
    let mut order: Vec<&String> = values.keys().collect();
    if let Some(better) = input.overlay.order(name) {
        ensure!(
            better.len() == values.len(),
            "the order of {name} has not all values"
        );
        order = better.iter().collect();
    }
    let default = input.overlay.default(name);
    let known = input
        .types
        .choices
        .get(name)
        .with_context(|| format!("typify lost {name}"))?;
    let mut variants = Vec::new();
    let mut arms = Vec::new();
    for value in order {
        let variant = known.iter().find(|variant| variant.value == *value);
        let variant = &variant
            .with_context(|| format!("{name} has no value `{value}`"))?
            .ident;
        let docs = match input.overlay.docs(&format!("{name}.{value}")) {
            Some(docs) => doc(docs),
            None => doc(&format!("The value `{value}`.")),
        };
        let default = (default == Some(value)).then(|| quote! { #[default] });
        variants.push(quote! { #docs #default #[serde(rename = #value)] #variant });
        arms.push(quote! { Self::#variant => #value });
    }
    let docs = doc(input.overlay.docs(name).unwrap_or_default());
    let default = default.map(|_| quote! { Default, });
    let name = ident(name);
    Ok(quote! {
        #docs
        #[derive(
            Clone, Copy, Debug, #default PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize,
        )]
        #[non_exhaustive]
        pub enum #name { #(#variants,)* }

        impl #name {
            /// The value as it is written in JSON.
            pub fn as_str(self) -> &'static str {
                match self { #(#arms,)* }
            }
        }

        impl std::fmt::Display for #name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    })
}
