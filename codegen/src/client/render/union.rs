//! Enums of alternatives, and newtypes of recursive schemas.

use std::array;

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::Input;
use super::record::because;
use super::types::{Scope, reason};
use crate::client::docs::Docs;
use crate::client::name::{Names, unique, variant_forms};
use crate::client::schema::{Alternative, Kind, Members, Selection, Shape, Tag, TypeId};

impl Input<'_> {
    pub(super) fn union(
        &self,
        id: TypeId,
        selection: &Selection,
        alternatives: &[Alternative],
    ) -> TokenStream {
        let name = format_ident!("{}", self.named.name(id));
        // Alternatives of the same name are numbered.
        let mut numbered = Names::default();
        let names = alternatives.iter();
        let names = names.map(|one| numbered.take(array::from_ref(&one.name), " "));
        let idents = variants(names);
        let variants = alternatives
            .iter()
            .zip(&idents)
            .map(|(one, ident)| self.variant(id, ident, &one.shape));
        let read = match selection {
            Selection::First => None,
            Selection::Tag(tag) => Some(self.by_tag(&name, tag, &idents)),
            Selection::Members(members) => {
                let alternatives = alternatives.iter().zip(members).zip(&idents);
                Some(self.by_members(&name, alternatives))
            }
        };
        let derive = read.is_none().then(|| quote! { Deserialize, });
        let expecting = read.is_none().then(|| {
            let expecting = format!("one of the forms of {name}");
            quote! { , expecting = #expecting }
        });
        let from = alternatives
            .iter()
            .zip(&idents)
            .map(|(one, ident)| self.from(id, &name, ident, &one.shape));
        let krate = self.serde_path();
        quote! {
            #[derive(Clone, Debug, PartialEq, #derive Serialize)]
            #[serde(crate = #krate, untagged #expecting)]
            #[non_exhaustive]
            pub enum #name { #(#variants)* }

            #read
            #(#from)*
        }
    }

    fn variant(&self, id: TypeId, ident: &Ident, shape: &Shape) -> TokenStream {
        let ty = self.ty(shape, Scope::Part(id));
        let mut docs = self.alternative_docs(shape);
        if let Some(reason) = reason(shape) {
            docs.add(&because(reason));
        }
        let docs = docs.render("One of the alternatives.");
        quote! { #docs #ident(#ty), }
    }

    /// The server's description of an alternative with a named type.
    fn alternative_docs(&self, shape: &Shape) -> Docs {
        let description = match shape {
            Shape::Named(id) => self.plan.types.get(*id).description.as_deref(),
            _ => None,
        };
        Docs::quoted(description.unwrap_or_default())
    }

    /// Emits the implementation that selects the alternative by its tag.
    fn by_tag(&self, name: &Ident, tag: &Tag, idents: &[Ident]) -> TokenStream {
        let krate = self.krate;
        let member = &tag.member;
        let arms = tag.values.iter().zip(idents).map(|(values, ident)| {
            quote! {
                Some(#(#values)|*) => #krate::__generated::serde_json::from_value(value).map(Self::#ident)
            }
        });
        let unknown = format!(
            "`{}` has an unknown value for {name}",
            member.escape_debug()
        );
        quote! {
            impl<'de> Deserialize<'de> for #name {
                fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    let value = Value::deserialize(deserializer)?;
                    let read = match value.get(#member).and_then(Value::as_str) {
                        #(#arms,)*
                        _ => Err(#krate::__generated::serde::de::Error::custom(#unknown)),
                    };
                    read.map_err(<D::Error as #krate::__generated::serde::de::Error>::custom)
                }
            }
        }
    }

    /// Emits the implementation that selects the alternative by its members.
    fn by_members<'a>(
        &self,
        name: &Ident,
        alternatives: impl Iterator<Item = ((&'a Alternative, &'a Members), &'a Ident)>,
    ) -> TokenStream {
        let krate = self.krate;
        let alternatives: Vec<_> = alternatives.collect();
        let has = alternatives
            .iter()
            .any(|((_, members), _)| members.count() > 0)
            .then(|| quote! { let has = |member: &str| value.get(member).is_some(); });
        let attempts = alternatives
            .into_iter()
            .map(|((alternative, members), ident)| self.attempt(alternative, members, ident));
        let no_form = format!("it is none of the forms of {name}");
        quote! {
            impl<'de> Deserialize<'de> for #name {
                fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    let value = Value::deserialize(deserializer)?;
                    #has
                    let mut errors: Vec<#krate::__generated::serde_json::Error> = Vec::new();
                    #(#attempts)*
                    // The last alternative that was tried is the most likely one.
                    Err(errors.pop().map_or_else(
                        || <D::Error as #krate::__generated::serde::de::Error>::custom(#no_form),
                        <D::Error as #krate::__generated::serde::de::Error>::custom,
                    ))
                }
            }
        }
    }

    /// Emits the code that reads one alternative, if the value has the form and the members that select it.
    fn attempt(&self, alternative: &Alternative, members: &Members, ident: &Ident) -> TokenStream {
        let attempt = quote! {
            match Deserialize::deserialize(&value) {
                Ok(read) => return Ok(Self::#ident(read)),
                Err(error) => errors.push(error),
            }
        };
        let present = members.present.iter().map(|member| quote! { has(#member) });
        let absent = members.absent.iter().map(|member| quote! { !has(#member) });
        let id = alternative.shape.id();
        let form = match id.map(|id| &self.plan.types.get(id).kind) {
            Some(Kind::Record(_)) if members.present.is_empty() => {
                Some(quote! { value.is_object() })
            }
            Some(Kind::Choice(_)) => Some(quote! { !value.is_object() }),
            _ => None,
        };
        let conditions: Vec<TokenStream> = form.into_iter().chain(present).chain(absent).collect();
        if conditions.is_empty() {
            attempt
        } else {
            quote! { if #(#conditions)&&* { #attempt } }
        }
    }

    fn from(&self, id: TypeId, name: &Ident, ident: &Ident, shape: &Shape) -> TokenStream {
        let ty = self.ty(shape, Scope::Part(id));
        let from = quote! {
            impl From<#ty> for #name {
                fn from(value: #ty) -> Self { Self::#ident(value) }
            }
        };
        match shape {
            Shape::Text => quote! {
                #from
                impl From<&str> for #name {
                    fn from(value: &str) -> Self { Self::#ident(value.into()) }
                }
            },
            Shape::Named(part) if self.boxes.needs_box(id, *part) => {
                let part = format_ident!("{}", self.named.name(*part));
                quote! {
                    impl From<#part> for #name {
                        fn from(value: #part) -> Self { Self::#ident(Box::new(value)) }
                    }
                }
            }
            _ => from,
        }
    }

    pub(super) fn newtype(&self, id: TypeId, shape: &Shape) -> TokenStream {
        let name = format_ident!("{}", self.named.name(id));
        let ty = self.ty(shape, Scope::Part(id));
        let krate = self.serde_path();
        quote! {
            #[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
            #[serde(crate = #krate, transparent)]
            pub struct #name(
                /// The value.
                pub #ty
            );

            impl From<#ty> for #name {
                fn from(value: #ty) -> Self { Self(value) }
            }
        }
    }
}

/// The identifiers of variants.
pub(super) fn variants(names: impl Iterator<Item = String>) -> Vec<Ident> {
    let forms: Vec<_> = names.map(|name| variant_forms(&name)).collect();
    let names = unique(&forms, &[]).into_iter();
    names.map(|name| format_ident!("{name}")).collect()
}
