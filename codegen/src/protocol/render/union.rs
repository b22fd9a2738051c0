//! Enumerations of records.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use heck::ToPascalCase as _;
use proc_macro2::TokenStream;
use quote::quote;
use syn::Ident;

use super::{Input, doc, ident, revision};
use crate::protocol::merge::{Definition, Kind};
use crate::protocol::overlay::UnionTag;
use crate::protocol::revisions::RevisionSet;
use crate::protocol::types::rust_name;

/// A union to render.
pub(super) struct Union<'a> {
    input: Input<'a>,
    name: &'a str,
    members: Vec<Member>,
    /// The key of the tag. Without one, deserialization is written by hand.
    tag: Option<(String, &'a UnionTag)>,
}

struct Member {
    ty: Ident,
    variant: Ident,
    tag: Option<String>,
    docs: String,
    revisions: RevisionSet,
}

impl<'a> Union<'a> {
    pub(super) fn new(
        input: Input<'a>,
        name: &'a str,
        members: &[(String, RevisionSet)],
    ) -> Result<Self> {
        let union_tag = input.overlay.union_tag(name);
        let mut key = None;
        let mut found = Vec::new();
        for (member, revisions) in members {
            let tag = record_tag(input, member, name)?;
            key = key.or_else(|| tag.map(|(key, _)| key.clone()));
            let tag = tag.map(|(_, value)| value.clone());
            let tag = tag.or_else(|| union_tag?.default.clone());
            let variant = match (&tag, union_tag) {
                (Some(tag), Some(_)) => tag.rsplit('/').next().unwrap_or(tag).to_pascal_case(),
                _ => short_name(member, name),
            };
            let ty = rust_name(member);
            let docs = input.overlay.docs(&ty).unwrap_or_default().to_owned();
            let (ty, variant) = (ident(&ty), ident(&variant));
            found.push(Member {
                ty,
                variant,
                tag,
                docs,
                revisions: *revisions,
            });
        }
        let tag = match (union_tag, key) {
            (Some(union_tag), Some(key)) => Some((key, union_tag)),
            (Some(_), None) => bail!("the members of {name} have no tag"),
            (None, _) => None,
        };
        Ok(Self {
            input,
            name,
            members: found,
            tag,
        })
    }

    pub(super) fn render(&self) -> TokenStream {
        let name = ident(self.name);
        let docs = doc(self.input.overlay.docs(self.name).unwrap_or_default());
        let variants = self.members.iter().map(
            |Member {
                 ty, variant, docs, ..
             }| {
                let docs = doc(docs);
                quote! { #docs #variant(#ty) }
            },
        );
        let conversions = self.conversions();
        let since = self.since();
        let reading = self
            .tag
            .as_ref()
            .map(|(key, union_tag)| self.reading(key, union_tag));
        quote! {
            #docs
            #[derive(Clone, Debug, PartialEq, Serialize)]
            #[serde(untagged)]
            #[non_exhaustive]
            pub enum #name { #(#variants,)* }

            impl #name {
                /// Returns the first revision that allows this variant.
                pub fn since(&self) -> Revision {
                    match self { #(#since,)* }
                }
            }

            #conversions
            #reading
        }
    }

    fn conversions(&self) -> TokenStream {
        let name = ident(self.name);
        let conversions = self.members.iter().map(|Member { ty, variant, .. }| {
            quote! {
                impl From<#ty> for #name {
                    fn from(value: #ty) -> Self { Self::#variant(value) }
                }
            }
        });
        conversions.collect()
    }

    /// The match arms for the first revision of each variant, one arm for each revision.
    fn since(&self) -> Vec<TokenStream> {
        let mut by_revision: BTreeMap<usize, Vec<&Ident>> = BTreeMap::new();
        for member in &self.members {
            by_revision
                .entry(member.revisions.first())
                .or_default()
                .push(&member.variant);
        }
        let arms = by_revision.into_iter().map(|(since, variants)| {
            let since = revision(self.input.merged, since);
            quote! { #(Self::#variants(_))|* => #since }
        });
        arms.collect()
    }

    fn reading(&self, key: &str, union_tag: &UnionTag) -> TokenStream {
        let name = ident(self.name);
        let noun = &union_tag.noun;
        let default = union_tag.default.as_ref().map(|tag| quote! { Some(#tag) });
        let default = default.unwrap_or_else(|| quote! { None });
        let tags = self.members.iter().map(|member| &member.tag);
        let arms = self.members.iter().map(
            |Member {
                 ty, variant, tag, ..
             }| {
                quote! { #tag => #ty::deserialize(object).map(Self::#variant) }
            },
        );
        quote! {
            impl Tagged for #name {
                const TAG: &'static str = #key;
                const NOUN: &'static str = #noun;
                const DEFAULT: Option<&'static str> = #default;
                const KNOWN: &'static [&'static str] = &[#(#tags),*];

                fn from_tag<'de, D: Deserializer<'de>>(tag: &str, object: D) -> Result<Self, D::Error> {
                    match tag {
                        #(#arms,)*
                        _ => Err(tagged::unknown::<Self, _>(tag)),
                    }
                }
            }

            impl<'de> Deserialize<'de> for #name {
                fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    tagged::deserialize(deserializer)
                }
            }
        }
    }
}

/// Returns the key and the value of the tag of a member. Fails if the member is not a record.
fn record_tag<'a>(
    input: Input<'a>,
    member: &str,
    union: &str,
) -> Result<Option<&'a (String, String)>> {
    let definition = input.merged.definitions.get(member);
    let Some(Definition {
        kind: Kind::Record { tag, .. },
        ..
    }) = definition
    else {
        bail!("the member {member} of {union} is not a record");
    };
    Ok(tag.as_ref())
}

/// `Text` for `TextResourceContents` in `ResourceContents`, `Number` for `NumberSchema`.
fn short_name(member: &str, union: &str) -> String {
    let short = member
        .strip_suffix(union)
        .or_else(|| member.strip_suffix("Schema"));
    short.unwrap_or(member).to_pascal_case()
}
