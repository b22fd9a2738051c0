//! Attributes within `cfg_attr`, which rustc expands only on the annotated item itself: on its methods they are read here.

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Attribute, Meta, Token, parse_quote};

use crate::diag::Sink;

/// An attribute, and the condition of the `cfg_attr` around it.
struct Conditional {
    condition: Option<TokenStream>,
    attribute: Attribute,
}

/// Returns the `cfg` attributes; those within `cfg_attr` apply if their condition holds.
pub(crate) fn cfgs(attributes: &[Attribute]) -> Vec<Attribute> {
    let cfgs = all(attributes).into_iter().filter(|it| it.is("cfg"));
    let cfg = |Conditional {
                   condition,
                   attribute,
               }| match (condition, &attribute.meta) {
        (Some(condition), Meta::List(list)) => {
            let predicate = &list.tokens;
            parse_quote!(#[cfg(any(not(#condition), #predicate))])
        }
        _ => attribute,
    };
    cfgs.map(cfg).collect()
}

/// Returns the first attribute with this name, within its `cfg_attr` if it has one.
pub(crate) fn first(attributes: &[Attribute], name: &str) -> Option<Attribute> {
    let found = all(attributes).into_iter().find(|it| it.is(name));
    found.map(Conditional::wrapped)
}

/// Returns the attributes with this name, within their `cfg_attr` if they have one.
pub(crate) fn named(attributes: &[Attribute], name: &str) -> Vec<Attribute> {
    picked(attributes, |it| it.path().is_ident(name).then_some(it))
}

/// Returns the attributes that `pick` returns, within their `cfg_attr` if they have one.
pub(crate) fn picked(
    attributes: &[Attribute],
    pick: impl Fn(Attribute) -> Option<Attribute>,
) -> Vec<Attribute> {
    let all = all(attributes).into_iter();
    let picked = all.filter_map(|it| {
        let (condition, attribute) = (it.condition, pick(it.attribute)?);
        let it = Conditional {
            condition,
            attribute,
        };
        Some(it.wrapped())
    });
    picked.collect()
}

/// Returns the condition of the first `cfg_attr` with an attribute that `wanted` accepts, and all attributes in their order for
/// the cases that it holds and that it does not.
pub(crate) fn cases(
    attributes: &[Attribute],
    wanted: fn(&Attribute) -> bool,
) -> Option<(TokenStream, [Vec<Attribute>; 2])> {
    let is_wanted =
        |attribute: &Attribute| all_within(attribute).iter().any(|it| wanted(&it.attribute));
    let index = attributes
        .iter()
        .position(|attribute| is_cfg_attr(attribute) && is_wanted(attribute))?;
    let (condition, within) = parts(&attributes[index])?;
    let (before, after) = (&attributes[..index], &attributes[index + 1..]);
    let holds = [before, &within, after].concat();
    Some((condition, [holds, [before, after].concat()]))
}

/// Reports marks within `cfg_attr` on a method, field or variant (`noun`), and replaces the `cfg_attr` by the mark, the probable
/// intention.
pub(crate) fn reject_marks(
    attributes: &mut Vec<Attribute>,
    is_mark: impl Fn(&Attribute) -> bool,
    noun: &str,
    sink: &mut Sink,
) {
    let mut marks = Vec::new();
    attributes.retain(|attribute| {
        let within = all_within(attribute).into_iter().map(|it| it.attribute);
        let mut within = within
            .filter(|it| is_cfg_attr(attribute) && is_mark(it))
            .peekable();
        let has_mark = within.peek().is_some();
        marks.extend(within);
        !has_mark
    });
    for mark in &marks {
        let message = format!(
            "this attribute can't be within `cfg_attr`; write it without, and `#[cfg(…)]` on the {noun}"
        );
        sink.error(mark.path(), message);
    }
    attributes.extend(marks);
}

impl Conditional {
    fn is(&self, name: &str) -> bool {
        self.attribute.path().is_ident(name)
    }

    fn wrapped(self) -> Attribute {
        match &self.condition {
            Some(condition) => {
                let meta = &self.attribute.meta;
                parse_quote!(#[cfg_attr(#condition, #meta)])
            }
            None => self.attribute,
        }
    }
}

/// Returns all attributes, those within `cfg_attr` in its place.
fn all(attributes: &[Attribute]) -> Vec<Conditional> {
    attributes.iter().flat_map(all_within).collect()
}

/// Returns the attribute itself, or those within a `cfg_attr`.
fn all_within(attribute: &Attribute) -> Vec<Conditional> {
    let parts = is_cfg_attr(attribute).then(|| parts(attribute)).flatten();
    let Some((outer, within)) = parts else {
        return vec![Conditional {
            condition: None,
            attribute: attribute.clone(),
        }];
    };
    let within = all(&within).into_iter().map(|mut inner| {
        inner.condition = Some(match inner.condition {
            Some(condition) => quote!(all(#outer, #condition)),
            None => outer.clone(),
        });
        inner
    });
    within.collect()
}

fn is_cfg_attr(attribute: &Attribute) -> bool {
    attribute.path().is_ident("cfg_attr")
}

/// Splits `cfg_attr(condition, attribute, …)`. Returns `None` if it is malformed, which rustc reports.
fn parts(attribute: &Attribute) -> Option<(TokenStream, Vec<Attribute>)> {
    let Meta::List(list) = &attribute.meta else {
        return None;
    };
    let parse = |input: ParseStream<'_>| {
        let mut condition = TokenStream::new();
        while !input.is_empty() && !input.peek(Token![,]) {
            condition.extend([input.parse::<proc_macro2::TokenTree>()?]);
        }
        input.parse::<Option<Token![,]>>()?;
        let within = Punctuated::<Meta, Token![,]>::parse_terminated(input)?;
        Ok((condition, within))
    };
    let (condition, within) = parse.parse2(list.tokens.clone()).ok()?;
    let within = within.into_iter().map(|meta| Attribute {
        meta,
        ..attribute.clone()
    });
    Some((condition, within.collect()))
}
