//! Bounds and defaults of parameters and of the fields of forms, written on fields of a type.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Attribute, Item};

use super::attributes::{attributes, has_ident, is_one_of};
use crate::diag::Sink;

/// Reports `#[arg(range = …)]` and the like on fields, and removes them, so that rustc does not report them too.
///
/// The attribute `arg` may also belong to a derive of the user, such as that of clap, which has none of these keys. Fields of
/// an item that is a form, too, are left to `#[mcp_form]`.
pub(super) fn reject_on_fields(item: TokenStream, sink: &mut Sink) -> TokenStream {
    let has = |wanted: &str| has_ident(item.clone(), &|name| name == wanted);
    if has("mcp_form") || !(has("arg") || has("field")) {
        return item;
    }
    let Ok(mut parsed) = syn::parse2::<Item>(item.clone()) else {
        return item;
    };
    attributes(&mut parsed, |attributes| {
        attributes.retain(|attribute| {
            let message = message(attribute);
            if let Some(message) = &message {
                sink.error(attribute.path(), message);
            }
            message.is_none()
        });
    });
    parsed.to_token_stream()
}

fn message(attribute: &Attribute) -> Option<String> {
    if !is_one_of(attribute, &["arg", "field"]) {
        return None;
    }
    let name = attribute.path().to_token_stream();
    let tokens = attribute.meta.require_list().ok()?.tokens.clone();
    let tokens: Vec<_> = tokens.into_iter().collect();
    tokens.windows(2).find_map(|pair| {
        let [TokenTree::Ident(key), TokenTree::Punct(equals)] = pair else {
            return None;
        };
        let instead = match &*key.to_string() {
            _ if equals.as_char() != '=' => return None,
            "range" => "#[schemars(range(min = 1))]",
            "length" => "#[schemars(length(min = 1))]",
            "default" => "#[serde(default = \"function\")]",
            _ => return None,
        };
        Some(format!(
            "`#[{name}({key} = …)]` has no effect on a field of a type; write `{instead}`"
        ))
    })
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use crate::diag::messages;
    use crate::mcp_type::mcp_type;

    #[test]
    fn keys_of_parameters_are_reported_on_fields() {
        let item = quote! {
            struct Place {
                #[arg(range = 1..)]
                arg: u64,
                #[field(name = "b", length = ..=3)]
                b: String,
                #[arg(default = 5)]
                c: u8,
                #[arg(long, value_parser = parse)]
                of_clap: u64,
            }
        };
        let expected = [
            "`#[arg(range = …)]` has no effect on a field of a type; write `#[schemars(range(min = 1))]`",
            "`#[field(length = …)]` has no effect on a field of a type; write `#[schemars(length(min = 1))]`",
            "`#[arg(default = …)]` has no effect on a field of a type; write `#[serde(default = \"function\")]`",
        ];
        assert_eq!(messages(mcp_type(quote!(), &item)), expected);
    }
}
