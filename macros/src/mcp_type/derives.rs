//! Derives below `#[mcp_type]` that repeat its own.

use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Attribute, Path, Token, parse_quote_spanned};

use super::direction::Direction;
use crate::diag::Sink;

/// Crates whose derives are those of `#[mcp_type]`. The traits of other crates may have the same names.
const CRATES: [&str; 3] = ["serde", "serde_derive", "schemars"];

/// Reports derives that `#[mcp_type]` has too, and removes them, so that they cause no further errors.
pub(super) fn reject_ours(attributes: &mut [Attribute], direction: Direction, sink: &mut Sink) {
    for attribute in attributes.iter_mut() {
        if !attribute.path().is_ident("derive") {
            continue;
        }
        let parse = Punctuated::<Path, Token![,]>::parse_terminated;
        let Ok(paths) = attribute.parse_args_with(parse) else {
            continue;
        };
        let (ours, others): (Vec<_>, Vec<_>) =
            paths.into_iter().partition(|path| is_ours(path, direction));
        for path in &ours {
            let name = path.segments.last().map(|last| last.ident.to_string());
            let name = name.unwrap_or_default();
            sink.error(
                path,
                format!("`#[mcp_type]` derives `{name}`; remove it here"),
            );
        }
        if !ours.is_empty() {
            *attribute = parse_quote_spanned!(attribute.span()=> #[derive(#(#others),*)]);
        }
    }
}

/// Returns `true` for a trait that `#[mcp_type]` derives for types of the direction.
fn is_ours(path: &Path, direction: Direction) -> bool {
    let Some(last) = path.segments.last() else {
        return false;
    };
    let is_derived = match &*last.ident.to_string() {
        "Serialize" => direction.writes(),
        "Deserialize" => direction.reads(),
        "JsonSchema" => true,
        _ => false,
    };
    let mut segments = path.segments.iter();
    let is_of_crate = path.segments.len() == 1
        || segments.any(|segment| CRATES.iter().any(|name| segment.ident == name));
    is_derived && is_of_crate
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use crate::diag::messages;
    use crate::mcp_type::mcp_type;

    #[test]
    fn only_derives_of_the_macro_itself_are_errors() {
        let error = |name| format!("`#[mcp_type]` derives `{name}`; remove it here");
        let all = quote!(Debug, Serialize, serde::Deserialize, schemars::JsonSchema);
        let table = [
            (
                quote!(),
                &all,
                vec!["Serialize", "Deserialize", "JsonSchema"],
            ),
            (quote!(input), &all, vec!["Deserialize", "JsonSchema"]),
            (quote!(output), &all, vec!["Serialize", "JsonSchema"]),
            (quote!(), &quote!(Clone, rkyv::Serialize), vec![]),
        ];
        for (direction, derived, names) in table {
            let item = quote!(
                #[derive(#derived)]
                struct Place {
                    id: u64,
                }
            );
            let expected: Vec<_> = names.into_iter().map(error).collect();
            assert_eq!(messages(mcp_type(direction, &item)), expected);
        }
    }
}
