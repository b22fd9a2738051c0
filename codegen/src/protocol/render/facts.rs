//! Tables of the members and methods that each revision defines and requires.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::method::variant;
use super::{Input, ident};
use crate::protocol::merge::Kind;
use crate::protocol::methods::Method;
use crate::protocol::revisions::RevisionSet;
use crate::protocol::types::rust_name;

/// Renders both tables, sorted for binary search.
pub(super) fn render(input: Input<'_>) -> TokenStream {
    let methods = methods(&input.merged.methods);
    let mut fields = Vec::new();
    for (definition, kind) in &input.merged.definitions {
        let Kind::Record { fields: known, .. } = &kind.kind else {
            continue;
        };
        for (field, facts) in known {
            fields.push((
                rust_name(definition),
                field,
                facts.revisions,
                facts.required_in,
            ));
        }
    }
    fields.sort_by(|left, right| (&left.0, left.1).cmp(&(&right.0, right.1)));
    let parts = parts(input);
    let fields = fields
        .iter()
        .map(|(definition, field, revisions, required)| {
            let (revisions, required) = (bits(*revisions), bits(*required));
            quote! { FieldFacts::new(#definition, #field, #revisions, #required) }
        });
    quote! {
        use crate::Method;
        use crate::field::FieldFacts;
        use crate::method::{Direction, MethodFacts, MethodKind};

        /// By name and direction.
        pub(crate) const METHODS: &[MethodFacts] = &[#(#methods),*];

        /// By definition and field.
        pub(crate) const FIELDS: &[FieldFacts] = &[#(#fields),*];

        /// The types of members, by definition and field, and those of a union, by its name and their tag.
        #[cfg(feature = "client")]
        pub(crate) const PARTS: &[(&str, &str, &str)] = &[#(#parts),*];
    }
}

/// Renders the types of all members and unions, sorted for binary search.
fn parts(input: Input<'_>) -> Vec<TokenStream> {
    let mut parts = Vec::new();
    for (definition, kind) in &input.merged.definitions {
        let name = rust_name(definition);
        match &kind.kind {
            Kind::Record { .. } => {
                let fields = input.types.records.get(&name).into_iter().flatten();
                let typed = fields.filter_map(|field| {
                    let part = element(&field.ty).filter(|part| is_compound(input, part))?;
                    Some((name.clone(), field.member.clone(), part))
                });
                parts.extend(typed);
            }
            Kind::Union(members) => {
                let tagged = members.iter().filter_map(|(member, _)| {
                    let Kind::Record {
                        tag: Some((_, tag)),
                        ..
                    } = &input.merged.definitions.get(member)?.kind
                    else {
                        return None;
                    };
                    Some((name.clone(), tag.clone(), rust_name(member)))
                });
                parts.extend(tagged);
            }
            Kind::Choice(_) => {}
        }
    }
    parts.sort();
    let rows = parts
        .iter()
        .map(|(definition, name, part)| quote! { (#definition, #name, #part) });
    rows.collect()
}

/// Returns `true` for the Rust name of a record or a union.
fn is_compound(input: Input<'_>, name: &str) -> bool {
    let mut definitions = input.merged.definitions.iter();
    definitions.any(|(definition, known)| {
        rust_name(definition) == name && !matches!(known.kind, Kind::Choice(_))
    })
}

/// `Icon` for `Option<Vec<Icon>>`; `None` for maps.
fn element(ty: &syn::Type) -> Option<String> {
    let syn::Type::Path(path) = ty else {
        return None;
    };
    let segment = path.path.segments.last()?;
    let syn::PathArguments::AngleBracketed(arguments) = &segment.arguments else {
        return Some(segment.ident.to_string());
    };
    let mut arguments = arguments.args.iter();
    match (arguments.next(), arguments.next()) {
        (Some(syn::GenericArgument::Type(ty)), None) => element(ty),
        _ => None,
    }
}

fn methods(methods: &[Method]) -> Vec<TokenStream> {
    let mut rows = Vec::new();
    for method in methods {
        let directions = [
            ("ClientToServer", method.from_client, RevisionSet::default()),
            ("ServerToClient", method.from_server, method.embedded),
        ];
        for (direction, revisions, embedded) in directions {
            if !revisions.union(embedded).is_empty() {
                rows.push((method, direction, revisions, embedded));
            }
        }
    }
    rows.sort_by_key(|(method, direction, ..)| (&method.wire_name, *direction));
    rows.into_iter()
        .map(|(method, direction, revisions, embedded)| {
            let name = variant(method);
            let kind = if method.result.is_some() {
                "Request"
            } else {
                "Notification"
            };
            let (direction, kind) = (ident(direction), ident(kind));
            let (revisions, embedded) = (bits(revisions), bits(embedded));
            quote! {
                MethodFacts::new(
                    Method::#name, Direction::#direction, MethodKind::#kind, #revisions, #embedded
                )
            }
        })
        .collect()
}

/// `0b10100`, one digit for each revision, the newest first.
fn bits(set: RevisionSet) -> TokenStream {
    let literal: Literal = match format!("0b{:05b}", set.0).parse() {
        Ok(literal) => literal,
        Err(_) => Literal::u8_unsuffixed(set.0),
    };
    quote! { #literal }
}
