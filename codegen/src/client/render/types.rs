//! Rust types of shapes.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::Input;
use crate::client::schema::{Kind, Shape, TypeId};

/// Place of a type expression: in the module of the types, or outside.
#[derive(Clone, Copy, Debug)]
pub(super) enum Scope {
    /// Within this type, directly or nested.
    Part(TypeId),
    Outside,
}

impl Scope {
    /// The path of a module of the standard library; nothing in the module of the types, which imports its types.
    fn std(self, module: &TokenStream) -> Option<TokenStream> {
        matches!(self, Self::Outside).then(|| quote! { ::std::#module:: })
    }
}

impl Input<'_> {
    /// The type of a shape.
    pub(super) fn ty(&self, shape: &Shape, scope: Scope) -> TokenStream {
        self.ty_of(shape, scope, true)
    }

    fn ty_of(&self, shape: &Shape, scope: Scope, is_inside: bool) -> TokenStream {
        let types = matches!(scope, Scope::Outside).then(|| quote! { types:: });
        match shape {
            Shape::Any(_) => quote! { #types Value },
            Shape::Unit => quote! { () },
            Shape::Bool => quote! { bool },
            Shape::Integer => quote! { i64 },
            Shape::Unsigned => quote! { u64 },
            Shape::Number => quote! { f64 },
            Shape::Text => {
                let path = scope.std(&quote! { string });
                quote! { #path String }
            }
            Shape::List(item) => {
                let path = scope.std(&quote! { vec });
                let item = self.ty_of(item, scope, false);
                quote! { #path Vec<#item> }
            }
            Shape::Map(item) => {
                let path = scope.std(&quote! { collections });
                let item = self.ty_of(item, scope, false);
                let text = self.ty_of(&Shape::Text, scope, false);
                quote! { #path BTreeMap<#text, #item> }
            }
            Shape::Nullable(inner) => {
                let path = scope.std(&quote! { option });
                let inner = self.ty_of(inner, scope, is_inside);
                quote! { #path Option<#inner> }
            }
            Shape::Tuple(items) => {
                let items = items.iter().map(|item| self.ty_of(item, scope, is_inside));
                quote! { (#(#items,)*) }
            }
            Shape::Named(id) => {
                let name = format_ident!("{}", self.named.name(*id));
                if is_inside && self.needs_box(*id, scope) {
                    quote! { Box<#name> }
                } else {
                    quote! { #types #name }
                }
            }
        }
    }

    /// Returns `true` if this type is in a box within the type of the scope.
    fn needs_box(&self, id: TypeId, scope: Scope) -> bool {
        matches!(scope, Scope::Part(whole) if self.boxes.needs_box(whole, id))
    }

    /// The type of a parameter, and `true` if it is `impl Into` of the type of the shape, for shorter calls.
    pub(super) fn parameter(&self, shape: &Shape, whole: TypeId) -> (TokenStream, bool) {
        let ty = self.ty(shape, Scope::Part(whole));
        let converts = match shape {
            Shape::Text | Shape::Number | Shape::List(_) | Shape::Map(_) | Shape::Any(_) => true,
            Shape::Named(id) => {
                let is_union = matches!(
                    self.plan.types.get(*id).kind,
                    Kind::Union { .. } | Kind::Newtype(_)
                );
                is_union || self.boxes.needs_box(whole, *id)
            }
            _ => false,
        };
        if converts {
            (quote! { impl Into<#ty> }, true)
        } else {
            (ty, false)
        }
    }
}

/// The reason for any JSON in a shape.
pub(super) fn reason(shape: &Shape) -> Option<&str> {
    match shape {
        Shape::Any(reason) => reason.as_deref(),
        Shape::List(item) | Shape::Map(item) | Shape::Nullable(item) => reason(item),
        Shape::Tuple(items) => items.iter().find_map(reason),
        _ => None,
    }
}
