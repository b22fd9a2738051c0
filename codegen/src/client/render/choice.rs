//! Enums of constants.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use serde_json::{Number, Value};

use super::Input;
use super::union::variants;
use crate::client::docs::{Docs, code};
use crate::client::schema::{Literal, TypeId};

impl Input<'_> {
    pub(super) fn choice(&self, id: TypeId, literals: &[Literal]) -> TokenStream {
        let name = format_ident!("{}", self.named.name(id));
        let names = literals.iter().map(|it| variant_name(&it.value));
        let idents = variants(names);
        let are_texts = literals.iter().all(|literal| literal.value.is_string());
        let is_constant = literals.len() == 1;
        let variants = literals.iter().zip(&idents).map(|(literal, ident)| {
            let docs = Docs::quoted(literal.description.as_deref().unwrap_or_default());
            let docs = docs.render(&code(&literal.value.to_string()));
            let default = is_constant.then(|| quote! { #[default] });
            let rename = literal
                .value
                .as_str()
                .filter(|text| are_texts && *ident != text);
            let rename = rename.map(|text| quote! { #[serde(rename = #text)] });
            quote! { #docs #default #rename #ident, }
        });
        let default = is_constant.then(|| quote! { Default, });
        let (derives, serde) = if are_texts {
            (quote! { Deserialize, Serialize }, Some(self.serde()))
        } else {
            (TokenStream::new(), None)
        };
        let more = if are_texts {
            text_methods(&name, literals, &idents)
        } else {
            self.value_impls(&name, literals, &idents)
        };
        quote! {
            #[derive(Clone, Copy, Debug, #default PartialEq, Eq, Hash, #derives)]
            #serde
            #[non_exhaustive]
            pub enum #name { #(#variants)* }

            #more
        }
    }

    /// Emits the serde implementations for constants that are not all texts.
    fn value_impls(&self, name: &Ident, literals: &[Literal], idents: &[Ident]) -> TokenStream {
        let krate = self.krate;
        let written = literals.iter().zip(idents).map(|(literal, ident)| {
            let value = written(&literal.value);
            quote! { Self::#ident => serializer.#value }
        });
        let read = literals.iter().zip(idents).map(|(literal, ident)| {
            let value = constant(&literal.value);
            quote! { if value == #value { return Ok(Self::#ident); } }
        });
        quote! {
            impl Serialize for #name {
                fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    match self { #(#written,)* }
                }
            }

            impl<'de> Deserialize<'de> for #name {
                fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    let value = Value::deserialize(deserializer)?;
                    #(#read)*
                    Err(<D::Error as #krate::__generated::serde::de::Error>::custom(::std::format_args!(
                        "{value} is none of the constants"
                    )))
                }
            }
        }
    }
}

fn text_methods(name: &Ident, literals: &[Literal], idents: &[Ident]) -> TokenStream {
    let texts = literals.iter().filter_map(|literal| literal.value.as_str());
    quote! {
        impl #name {
            /// Returns the text in JSON.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { #(Self::#idents => #texts,)* }
            }
        }
    }
}

/// Proposes the name of a variant.
fn variant_name(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => {
            let number = number
                .to_string()
                .replace('.', " point ")
                .replace("e-", " e minus ")
                .replace('+', " ");
            match number.strip_prefix('-') {
                Some(number) => format!("minus {number}"),
                None => format!("n{number}"),
            }
        }
        other => other.to_string(),
    }
}

/// A constant as a Rust expression.
fn constant(value: &Value) -> TokenStream {
    match value {
        Value::Bool(value) => quote! { #value },
        Value::String(text) => quote! { #text },
        Value::Number(number) => {
            let number = number_token(number);
            quote! { #number }
        }
        _ => quote! { Value::Null },
    }
}

fn number_token(number: &Number) -> TokenStream {
    let text = match (number.as_i64(), number.as_u64(), number.as_f64()) {
        (Some(number), ..) => format!("{number}_i64"),
        (_, Some(number), _) => format!("{number}_u64"),
        (_, _, Some(number)) => format!("{number:?}_f64"),
        (None, None, None) => "0_i64".to_owned(),
    };
    text.parse().unwrap_or_default()
}

/// The call that serializes a constant.
fn written(value: &Value) -> TokenStream {
    let constant = constant(value);
    match value {
        Value::Bool(_) => quote! { serialize_bool(#constant) },
        Value::String(_) => quote! { serialize_str(#constant) },
        Value::Number(number) if number.is_i64() => quote! { serialize_i64(#constant) },
        Value::Number(number) if number.is_u64() => quote! { serialize_u64(#constant) },
        Value::Number(_) => quote! { serialize_f64(#constant) },
        _ => quote! { serialize_unit() },
    }
}
