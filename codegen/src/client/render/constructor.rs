//! Constructors of structs.

use std::collections::BTreeSet;

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::Input;
use super::record::{Member, plain};
use super::types::Scope;
use crate::client::docs::Docs;
use crate::client::schema::{Kind, Record, Shape, TypeId, Types};

/// Form of the constructor of a struct.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Constructor {
    /// It takes nothing, because no member is required.
    Empty,
    /// It takes the required members as parameters.
    Positional,
    /// It takes the required members as one struct.
    Required,
    /// There is none: a literal lists all members.
    Literal,
}

impl Constructor {
    /// Determines the form for a struct. Parameters whose arguments could be swapped are named, since they change places
    /// when the server renames a member.
    pub(super) fn of(types: &Types, record: &Record) -> Self {
        let is_parameter = |shape: &Shape, required| required && !types.is_constant(shape);
        let fields = record.fields.iter();
        let parameters: Vec<&Shape> = fields
            .filter(|field| is_parameter(&field.shape, field.required))
            .map(|field| &field.shape)
            .collect();
        if parameters.is_empty() {
            Self::Empty
        } else if !can_be_swapped(types, &parameters) {
            Self::Positional
        } else if parameters.len() < record.fields.len() || record.rest.is_some() {
            Self::Required
        } else {
            Self::Literal
        }
    }
}

/// Returns `true` if an argument for one of the parameters could be passed for another.
fn can_be_swapped(types: &Types, parameters: &[&Shape]) -> bool {
    let mut seen = BTreeSet::new();
    parameters.iter().any(|shape| {
        let accepted: BTreeSet<Shape> = accepted(types, shape).into_iter().collect();
        let is_any = accepted.iter().any(|shape| matches!(shape, Shape::Any(_)));
        (is_any && parameters.len() > 1) || accepted.into_iter().any(|shape| !seen.insert(shape))
    })
}

/// The shapes that a parameter accepts.
fn accepted(types: &Types, shape: &Shape) -> Vec<Shape> {
    let converted = match types.kind(shape) {
        Some(kind @ (Kind::Union { .. } | Kind::Newtype(_))) => kind.shapes(),
        _ => Vec::new(),
    };
    converted.into_iter().chain([shape]).map(alike).collect()
}

/// The shape that stands for all that accept the same literals. Numbers are alike, also as parts of others.
fn alike(shape: &Shape) -> Shape {
    match shape {
        Shape::Integer | Shape::Unsigned => Shape::Number,
        Shape::List(items) => Shape::List(Box::new(alike(items))),
        Shape::Map(values) => Shape::Map(Box::new(alike(values))),
        Shape::Nullable(value) => Shape::Nullable(Box::new(alike(value))),
        Shape::Tuple(parts) => Shape::Tuple(parts.iter().map(alike).collect()),
        shape => shape.clone(),
    }
}

impl Input<'_> {
    pub(super) fn constructor(
        &self,
        id: TypeId,
        form: Constructor,
        members: &[Member<'_>],
        rest: Option<&Ident>,
    ) -> Option<TokenStream> {
        let rest = rest.map(|ident| quote! { #ident: BTreeMap::new(), });
        let new = match form {
            Constructor::Empty => quote! {
                /// Creates a value with all members unset.
                #[must_use]
                pub fn new() -> Self {
                    Self::default()
                }
            },
            Constructor::Positional => {
                let parameters = members.iter().filter(|member| member.is_parameter());
                let parameters = parameters.map(|member| {
                    let (ident, (ty, _)) = (&member.ident, self.parameter(member.shape, id));
                    quote! { #ident: #ty }
                });
                let values = members.iter().map(|member| {
                    let (_, converts) = self.parameter(member.shape, id);
                    self.initializer(member, converts)
                });
                quote! {
                    /// Creates a value from its required members.
                    #[must_use]
                    pub fn new(#(#parameters),*) -> Self {
                        Self { #(#values,)* #rest }
                    }
                }
            }
            Constructor::Required => {
                let name = format_ident!("{}", self.named.required(id));
                let idents = members.iter().filter(|member| member.is_parameter());
                let idents = idents.map(|member| &member.ident);
                let values = members.iter().map(|member| self.initializer(member, false));
                quote! {
                    /// Creates a value from its required members.
                    #[must_use]
                    pub fn new(required: #name) -> Self {
                        let #name { #(#idents,)* } = required;
                        Self { #(#values,)* #rest }
                    }
                }
            }
            Constructor::Literal => return None,
        };
        Some(new)
    }

    /// The initial value of a member, for a constructor with a variable for each required one.
    fn initializer(&self, member: &Member<'_>, converts: bool) -> TokenStream {
        let ident = &member.ident;
        if !member.field.required {
            quote! { #ident: None }
        } else if member.is_constant {
            let value = self.only_value(member.shape);
            quote! { #ident: #value }
        } else if converts {
            quote! { #ident: #ident.into() }
        } else {
            quote! { #ident }
        }
    }

    /// The struct with the required members.
    pub(super) fn required(&self, id: TypeId, members: &[Member<'_>]) -> TokenStream {
        let whole = self.named.name(id);
        let name = format_ident!("{}", self.named.required(id));
        let fields = members.iter().filter(|member| member.is_parameter());
        let fields = fields.map(|member| {
            let (ident, ty) = (&member.ident, self.ty(member.shape, Scope::Part(id)));
            let docs = Docs::default().render(&format!("See [`{whole}::{}`].", plain(ident)));
            quote! { #docs pub #ident: #ty, }
        });
        let docs = Docs::default().render(&format!("Required members of [`{whole}`]."));
        quote! {
            #docs
            #[derive(Clone, Debug, PartialEq)]
            pub struct #name { #(#fields)* }
        }
    }
}
