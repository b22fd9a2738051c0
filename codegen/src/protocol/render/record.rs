//! Structs, their constructors and setters.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::Ident;

use super::{Input, doc, ident, revision};
use crate::protocol::merge::{self, Kind};
use crate::protocol::types::{FieldType, rust_name};

/// Members that are the first ones of a struct, in this order. The others follow by name.
const FIRST: [&str; 15] = [
    "id",
    "name",
    "uri",
    "uriTemplate",
    "ref",
    "taskId",
    "role",
    "level",
    "messages",
    "message",
    "progressToken",
    "toolUseId",
    "protocolVersion",
    "action",
    "src",
];

/// Members that are the first parameters of a constructor, before those of [`FIRST`]: URIs and names are strings, so only one order
/// everywhere, with that of resource contents, prevents that they are swapped.
const URIS: [&str; 2] = ["uri", "uriTemplate"];

/// Members that a revision requires of results and that are filled in automatically.
const AUTO_FILLED: [&str; 3] = ["resultType", "ttlMs", "cacheScope"];

/// A struct to render.
pub(super) struct Record<'a> {
    input: Input<'a>,
    name: &'a str,
    fields: Vec<Field<'a>>,
    open: bool,
    tag: Option<&'a (String, String)>,
}

struct Field<'a> {
    facts: &'a merge::Field,
    rust: &'a FieldType,
}

impl<'a> Record<'a> {
    pub(super) fn new(
        input: Input<'a>,
        name: &'a str,
        fields: &'a BTreeMap<String, merge::Field>,
        open: bool,
        tag: Option<&'a (String, String)>,
    ) -> Result<Self> {
        let rust = input.types.records.get(name).map_or(&[][..], Vec::as_slice);
        let mut fields = fields
            .iter()
            .map(|(member, facts)| {
                let rust = rust.iter().find(|field| field.member == *member);
                let rust = rust.with_context(|| format!("typify lost {name}.{member}"))?;
                Ok(Field { facts, rust })
            })
            .collect::<Result<Vec<_>>>()?;
        fields.sort_by_key(Field::position);
        Ok(Self {
            input,
            name,
            fields,
            open,
            tag,
        })
    }

    pub(super) fn render(&self) -> TokenStream {
        let name = ident(self.name);
        let docs = self.input.overlay.docs(self.name).unwrap_or_default();
        let docs = doc(docs);
        let default = has_default(self.input, self.name).then(|| quote! { Default, });
        let fields = self
            .fields
            .iter()
            .map(|field| field.render(self.input, self.name));
        let extra = self.open.then(|| {
            quote! {
                /// Members that no revision of the protocol defines.
                pub extra: LazyObject,
            }
        });
        let (methods, json) = (self.methods(), self.json());
        let result = self.result();
        quote! {
            #docs
            #[derive(Clone, Debug, #default PartialEq)]
            #[non_exhaustive]
            pub struct #name { #(#fields)* #extra }

            impl #name { #methods }

            #json

            #result
        }
    }

    /// Renders the implementations of `Deserialize` and `Serialize`.
    fn json(&self) -> TokenStream {
        let name = ident(self.name);
        let tag = self.tag.map(|(key, value)| quote! { (#key = #value) });
        let fields = self.fields.iter().map(|field| {
            let FieldType { member, ident, .. } = field.rust;
            let kind = field.kind();
            let is_lenient = field.is_lenient(self.input, self.name);
            let how = is_lenient.then(|| quote! { as lenient });
            quote! { #kind #ident = #member #how }
        });
        let extra = self.open.then(|| quote! { ; extra });
        quote! { object! { #name #tag { #(#fields),* #extra } } }
    }

    fn methods(&self) -> TokenStream {
        let (mut required, optional): (Vec<_>, Vec<_>) =
            self.fields.iter().partition(|field| field.facts.required);
        required.sort_by_key(|field| !URIS.contains(&field.rust.member.as_str()));
        let arguments = required.iter().map(|field| {
            let (name, ty) = (&field.rust.ident, self.argument(&field.rust.ty));
            quote! { #name: #ty }
        });
        let values = required.iter().map(|field| {
            let name = &field.rust.ident;
            let into = (!self.is_scalar(&field.rust.ty)).then(|| quote! { : #name.into() });
            quote! { #name #into }
        });
        let absent = optional.iter().map(|field| &field.rust.ident);
        let extra = self.open.then(|| quote! { extra: LazyObject::default(), });
        let setters = optional.iter().map(|field| self.setter(field));
        let docs = doc(if required.is_empty() {
            "Creates a value with all members unset."
        } else {
            "Creates a value from its required members."
        });
        quote! {
            #docs
            pub fn new(#(#arguments),*) -> Self {
                Self { #(#values,)* #(#absent: None,)* #extra }
            }
            #(#setters)*
        }
    }

    fn setter(&self, field: &Field<'_>) -> TokenStream {
        let name = &field.rust.ident;
        let plain = name.to_string();
        let setter = format_ident!("with_{}", plain.trim_end_matches('_'));
        let docs = doc(&format!("Sets [`{plain}`](Self::{plain})."));
        let (ty, value) = (self.argument(&field.rust.ty), self.convert(field));
        quote! {
            #docs
            #[must_use]
            pub fn #setter(mut self, #name: #ty) -> Self {
                self.#name = Some(#value);
                self
            }
        }
    }

    /// The parameter type. Scalars have no `impl Into`, so that the type of a literal can be inferred.
    fn argument(&self, ty: &syn::Type) -> TokenStream {
        if self.is_scalar(ty) {
            quote! { #ty }
        } else {
            quote! { impl Into<#ty> }
        }
    }

    fn convert(&self, field: &Field<'_>) -> TokenStream {
        let name = &field.rust.ident;
        if self.is_scalar(&field.rust.ty) {
            quote! { #name }
        } else {
            quote! { #name.into() }
        }
    }

    fn is_scalar(&self, ty: &syn::Type) -> bool {
        let name = type_name(ty);
        ["bool", "i64", "u64"].contains(&name.as_str())
            || self.input.types.choices.contains_key(&name)
    }

    /// Renders the implementation of `ResultObject`, which fills in the members that a revision requires.
    fn result(&self) -> Option<TokenStream> {
        if !self.name.ends_with("Result") {
            return None;
        }
        let name = ident(self.name);
        let filled: Vec<_> = self
            .fields
            .iter()
            .filter(|field| AUTO_FILLED.contains(&field.rust.member.as_str()))
            .map(|field| {
                let since = revision(self.input.merged, field.facts.required_in.first());
                let member = &field.rust.ident;
                quote! { require(&mut self.#member, revision >= #since); }
            })
            .collect();
        let text = self.name;
        let conform = (!filled.is_empty()).then(|| {
            quote! { fn conform_to(&mut self, revision: Revision) { #(#filled)* } }
        });
        Some(quote! {
            impl ResultObject for #name { const NAME: &'static str = #text; #conform }
        })
    }
}

impl Field<'_> {
    /// Required members first, `_meta` last.
    fn position(&self) -> impl Ord + use<> {
        let member = self.rust.member.clone();
        let first = FIRST
            .iter()
            .position(|name| *name == member)
            .unwrap_or(FIRST.len());
        (!self.facts.required, member == "_meta", first, member)
    }

    fn render(&self, input: Input<'_>, record: &str) -> TokenStream {
        let FieldType { member, ident, ty } = self.rust;
        let docs = match input.overlay.docs(&format!("{record}.{member}")) {
            Some(docs) => doc(docs),
            None => doc(&format!("The member `{member}`.")),
        };
        if self.facts.required {
            quote! { #docs pub #ident: #ty, }
        } else {
            quote! { #docs pub #ident: Option<#ty>, }
        }
    }

    /// Returns the kind of the field for the macro `object`.
    fn kind(&self) -> Ident {
        let ty = type_name(&self.rust.ty);
        let kind = match (self.facts.required, ty.as_str()) {
            (true, "Option") => "nullable",
            (true, _) => "required",
            (false, "Value") => "explicit",
            (false, _) => "optional",
        };
        format_ident!("{kind}")
    }

    /// Returns `true` for integers, which may be written as `1.0`, and for the members that the overlay lists.
    fn is_lenient(&self, input: Input<'_>, record: &str) -> bool {
        let ty = &self.rust.ty;
        let at = format!("{record}.{}", self.rust.member);
        quote! { #ty }.to_string().contains("i64") || input.overlay.is_lenient(&at)
    }
}

/// Returns `true` if every required member has a sensible default.
fn has_default(input: Input<'_>, record: &str) -> bool {
    let mut definitions = input.merged.definitions.iter();
    let definition = definitions.find(|(name, _)| rust_name(name) == record);
    let Some((
        _,
        merge::Definition {
            kind: Kind::Record { fields, .. },
            ..
        },
    )) = definition
    else {
        return false;
    };
    let types = input.types.records.get(record).into_iter().flatten();
    types
        .filter(|field| fields[&field.member].required)
        .all(|field| {
            let name = type_name(&field.ty);
            ["Vec", "BTreeMap", "ElicitFields", "JsonObject"].contains(&name.as_str())
                || has_default(input, &name)
        })
}

/// `Vec` for `Vec<String>`.
fn type_name(ty: &syn::Type) -> String {
    let syn::Type::Path(path) = ty else {
        return String::new();
    };
    let ident: Option<&Ident> = path.path.segments.last().map(|segment| &segment.ident);
    ident.map(Ident::to_string).unwrap_or_default()
}
