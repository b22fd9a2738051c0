//! Conversion of doc comments to text.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, Expr, ExprLit, Lit, Meta};

use crate::args::without_group;
use crate::cfg_attr;

/// Text of the doc comments among `attributes`, as an expression of type `&'static str`.
///
/// Each comment line loses the space after its slashes. Blank lines, which separate paragraphs, are retained.
/// Expands to a string literal, to `concat!("…", include_str!("…"))` if a macro provides some of the text, or to
/// `if cfg!(…) { "…" } else { "…" }` if some of it is within `cfg_attr`.
pub(crate) fn text(attributes: &[Attribute]) -> Option<TokenStream> {
    let is_text = |attribute: &Attribute| value(attribute).is_some();
    let Some((condition, cases)) = cfg_attr::cases(attributes, is_text) else {
        return text_of(attributes);
    };
    let [holds, fails] = cases.map(|attributes| text(&attributes).unwrap_or_else(|| quote!("")));
    Some(quote!(if ::core::cfg!(#condition) { #holds } else { #fails }))
}

fn text_of(attributes: &[Attribute]) -> Option<TokenStream> {
    let mut pieces: Vec<TokenStream> = Vec::new();
    let mut plain = String::new();
    for value in attributes.iter().filter_map(value) {
        if let Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            ..
        }) = &value
        {
            plain.push_str(&undecorated(&text.value()));
        } else {
            pieces.extend([quote!(#plain), quote!(#value)]);
            plain.clear();
        }
        plain.push('\n');
    }
    if pieces.is_empty() {
        let text = plain.trim_matches('\n').trim_end();
        return (!text.is_empty()).then(|| quote!(#text));
    }
    let end = plain.trim_end();
    Some(quote!(::core::concat!(#(#pieces,)* #end)))
}

/// Returns `true` for a doc comment.
pub(crate) fn is_doc(attribute: &Attribute) -> bool {
    attribute.path().is_ident("doc")
}

/// The value of `#[doc = value]`, which `/// value` expands to.
fn value(attribute: &Attribute) -> Option<Expr> {
    match &attribute.meta {
        Meta::NameValue(pair) if is_doc(attribute) => Some(without_group(pair.value.clone())),
        _ => None,
    }
}

/// Strips the space after `///`, or the column of `*` and the indentation of a `/** … */` block.
fn undecorated(comment: &str) -> String {
    let is_star = |line: &str| line.trim_start().starts_with('*') || line.trim().is_empty();
    let starred = comment.contains('*') && comment.lines().skip(1).all(is_star);
    let lines = comment.lines().enumerate().map(|(index, line)| {
        let line = if starred && index > 0 {
            line.trim_start().trim_start_matches('*')
        } else {
            line
        };
        line.trim_end()
    });
    let mut lines: Vec<&str> = lines.collect();
    if let Some((first, others)) = lines.split_first_mut() {
        // Otherwise it is a `#[doc = "…"]`, whose lines are indented as written.
        let is_comment = starred || first.is_empty() || indentation(first) > 0;
        if is_comment {
            dedent(others);
        }
        *first = first.strip_prefix(' ').unwrap_or(first);
    }
    lines.join("\n")
}

/// Strips the indentation that all lines have, except the blank ones.
fn dedent(lines: &mut [&str]) {
    let indented = lines.iter().filter(|line| !line.is_empty());
    let common = indented.map(|line| indentation(line)).min();
    for line in lines {
        *line = line.get(common.unwrap_or_default()..).unwrap_or_default();
    }
}

/// The number of spaces and tabs at the start of a line.
fn indentation(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '\t']).len()
}

#[cfg(test)]
mod tests {
    use syn::{ItemFn, LitStr, parse_quote};

    use super::text;

    #[track_caller]
    fn check(item: &ItemFn, expected: Option<&str>) {
        let text = text(&item.attrs).map(|tokens| syn::parse2::<LitStr>(tokens).unwrap().value());
        assert_eq!(text.as_deref(), expected);
    }

    #[test]
    fn comments_become_text() {
        check(&parse_quote! { fn none() {} }, None);
        check(&parse_quote! { #[doc(hidden)] fn hidden() {} }, None);
        check(
            &parse_quote! {
                /// One line.
                fn one() {}
            },
            Some("One line."),
        );
        check(
            &parse_quote! {
                /// Two
                /// lines.
                ///
                ///     and code
                fn paragraphs() {}
            },
            Some("Two\nlines.\n\n    and code"),
        );
        check(
            &parse_quote! { #[doc = " First."] #[inline] #[doc = "Second."] fn explicit() {} },
            Some("First.\nSecond."),
        );
        check(
            &parse_quote! { #[doc = "*\n * Starred\n *  more\n "] fn block() {} },
            Some("*\nStarred\n more"),
        );
        check(
            &parse_quote! { #[doc = "\n * Starred\n *  more\n "] fn block() {} },
            Some("Starred\n more"),
        );
    }

    #[test]
    fn the_indentation_of_a_block_is_not_text() {
        check(
            &parse_quote! { #[doc = "\n    First.\n\n      more\n    "] fn f() {} },
            Some("First.\n\n  more"),
        );
        check(
            &parse_quote! { #[doc = " First.\n\n\t\t- one\n\t\t  more\n\t"] fn f() {} },
            Some("First.\n\n- one\n  more"),
        );
        check(
            &parse_quote! { #[doc = "First.\n\n    code"] fn f() {} },
            Some("First.\n\n    code"),
        );
    }

    #[test]
    fn text_within_cfg_attr_depends_on_its_condition() {
        let item: ItemFn = parse_quote! {
            /// Always.
            #[cfg_attr(unix, allow(unused), doc = "Here.")]
            #[cfg_attr(docsrs, doc(cfg(unix)))]
            fn conditional() {}
        };
        let tokens = text(&item.attrs).unwrap().to_string();
        let expected = r#"if :: core :: cfg ! (unix) { "Always.\nHere." } else { "Always." }"#;
        assert_eq!(tokens, expected);
    }

    #[test]
    fn text_of_other_macros_is_concatenated() {
        let item: ItemFn = parse_quote! {
            /// Before.
            #[doc = include_str!("more.md")]
            /// After.
            fn included() {}
        };
        let tokens = text(&item.attrs).unwrap().to_string();
        let expected =
            r#":: core :: concat ! ("Before.\n" , include_str ! ("more.md") , "\nAfter.")"#;
        assert_eq!(tokens, expected);
    }
}
