//! Structs and their setters.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::Input;
use super::constructor::Constructor;
use super::types::{Scope, reason};
use crate::client::docs::{Docs, code, inline};
use crate::client::name::{Forms, ident, snake_forms, unique};
use crate::client::schema::{Field, Record, Shape, TypeId};

/// Names of the field for members that the schema does not list.
const REST_FIELD: [&str; 2] = ["additional", "additional_members"];

pub(super) struct Member<'a> {
    pub field: &'a Field,
    pub ident: Ident,
    /// Its shape if it is present.
    pub shape: &'a Shape,
    pub is_constant: bool,
}

impl Member<'_> {
    pub(super) fn is_parameter(&self) -> bool {
        self.field.required && !self.is_constant
    }
}

impl Input<'_> {
    /// The value of a constant.
    pub(super) fn only_value(&self, shape: &Shape) -> TokenStream {
        if let Shape::Named(id) = shape {
            let name = format_ident!("{}", self.named.name(*id));
            quote! { #name::default() }
        } else {
            quote! { () }
        }
    }

    pub(super) fn record(&self, id: TypeId, record: &Record) -> TokenStream {
        let fields = record.fields.iter();
        let mut forms: Vec<Forms> = fields.map(|field| snake_forms(&field.member)).collect();
        if record.rest.is_some() {
            forms.push(REST_FIELD.map(str::to_owned).into());
        }
        let mut names = unique(&forms, &[]).into_iter();
        let members = record.fields.iter().zip(&mut names);
        let members: Vec<Member<'_>> = members
            .map(|(field, name)| self.member(field, &name))
            .collect();
        let rest = record.rest.as_ref().zip(names.next());
        let rest = rest.map(|(shape, name)| (ident(&name), shape));
        let name = format_ident!("{}", self.named.name(id));
        let serde = self.serde();
        let fields = members.iter().map(|member| self.field(id, member));
        let rest_field = rest
            .as_ref()
            .map(|(ident, shape)| self.rest_field(id, ident, shape));
        let form = Constructor::of(&self.plan.types, record);
        let default = (form == Constructor::Empty).then(|| quote! { Default, });
        // A literal must be possible in other crates too.
        let non_exhaustive = (form != Constructor::Literal).then(|| quote! { #[non_exhaustive] });
        let new = self.constructor(id, form, &members, rest.as_ref().map(|(ident, _)| ident));
        let required = (form == Constructor::Required).then(|| self.required(id, &members));
        let setters = members
            .iter()
            .filter(|member| !member.field.required)
            .map(|member| self.setter(id, member));
        let rest_setter = rest
            .as_ref()
            .map(|(ident, shape)| self.rest_setter(id, ident, shape));
        let methods = (form != Constructor::Literal)
            .then(|| quote! { impl #name { #new #(#setters)* #rest_setter } });
        quote! {
            #[derive(Clone, Debug, #default PartialEq, Deserialize, Serialize)]
            #serde
            #non_exhaustive
            pub struct #name { #(#fields)* #rest_field }

            #methods

            #required
        }
    }

    fn member<'a>(&self, field: &'a Field, name: &str) -> Member<'a> {
        let shape = match &field.shape {
            Shape::Nullable(inner) if !field.required && !field.keeps_null => &**inner,
            shape => shape,
        };
        Member {
            field,
            ident: ident(name),
            shape,
            is_constant: self.plan.types.is_constant(shape),
        }
    }

    fn field(&self, id: TypeId, member: &Member<'_>) -> TokenStream {
        let Member {
            field,
            ident,
            shape,
            ..
        } = member;
        let mut docs = Docs::quoted(field.description.as_deref().unwrap_or_default());
        if docs.is_empty() && !field.notes.is_empty() {
            docs.add(&code(&field.member));
        }
        for note in &field.notes {
            docs.add(note);
        }
        if let Some(reason) = reason(shape) {
            docs.add(&because(reason));
        }
        let docs = docs.render(&code(&field.member));
        let ty = self.ty(shape, Scope::Part(id));
        let rename = (field.member != plain(ident)).then(|| {
            let name = &field.member;
            quote! { #[serde(rename = #name)] }
        });
        if field.required {
            quote! { #docs #rename pub #ident: #ty, }
        } else {
            let reads_null = field.keeps_null.then(|| {
                let path = self.generated("present");
                quote! {
                    #[serde(deserialize_with = #path)]
                    #[allow(clippy::option_option, reason = "null differs from absence")]
                }
            });
            quote! { #docs #rename #[serde(default, skip_serializing_if = "Option::is_none")] #reads_null pub #ident: Option<#ty>, }
        }
    }

    /// The field for members that the schema does not list.
    fn rest_field(&self, id: TypeId, ident: &Ident, shape: &Shape) -> TokenStream {
        let ty = self.ty(shape, Scope::Part(id));
        let mut docs = Docs::default();
        docs.add("Members that the schema does not list.");
        if let Some(reason) = reason(shape) {
            docs.add(&because(reason));
        }
        let docs = docs.render("");
        quote! { #docs #[serde(flatten)] pub #ident: BTreeMap<String, #ty>, }
    }

    fn setter(&self, id: TypeId, member: &Member<'_>) -> TokenStream {
        let Member { ident, shape, .. } = member;
        let setter = format_ident!("with_{}", plain(ident).trim_end_matches('_'));
        let docs = Docs::default().render(&format!("Sets [`{0}`](Self::{0}).", plain(ident)));
        let (ty, value) = self.converted(shape, id);
        quote! {
            #docs
            #[must_use]
            pub fn #setter(mut self, value: #ty) -> Self {
                self.#ident = Some(#value);
                self
            }
        }
    }

    fn rest_setter(&self, id: TypeId, ident: &Ident, shape: &Shape) -> TokenStream {
        let setter = format_ident!("with_{}", plain(ident));
        let (ty, value) = self.converted(shape, id);
        quote! {
            /// Adds a member that the schema does not list.
            #[must_use]
            pub fn #setter(mut self, name: impl Into<String>, value: #ty) -> Self {
                self.#ident.insert(name.into(), #value);
                self
            }
        }
    }

    /// The type of the parameter `value`, and the expression that converts it.
    fn converted(&self, shape: &Shape, id: TypeId) -> (TokenStream, TokenStream) {
        let (ty, converts) = self.parameter(shape, id);
        (
            ty,
            if converts {
                quote! { value.into() }
            } else {
                quote! { value }
            },
        )
    }
}

/// An identifier without `r#`.
pub(super) fn plain(ident: &Ident) -> String {
    let text = ident.to_string();
    text.strip_prefix("r#").map(str::to_owned).unwrap_or(text)
}

/// The note for an unsupported schema.
pub(super) fn because(reason: &str) -> String {
    format!("It is any JSON, because {}.", inline(reason))
}
