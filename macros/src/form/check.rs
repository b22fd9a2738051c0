//! Rules for forms and choices. Each rule is one function, which reports errors and lets the others run.

use quote::quote;
use syn::{Fields, Generics, ItemEnum, ItemStruct};

use crate::args::unknown;
use crate::diag::Sink;
use crate::tool::check::bounds;
use crate::tool::model::Name;

use super::model::{Choice, Field, Form, RustcAttributes};

/// String formats that the protocol defines.
pub(crate) const FORMATS: [&str; 4] = ["email", "uri", "date", "date-time"];

/// Checks a struct.
pub(crate) fn form(form: &Form, item: &ItemStruct, sink: &mut Sink) {
    named_fields(item, sink);
    not_generic("form", &item.generics, sink);
    let names = form
        .fields
        .iter()
        .map(|field| (&field.name, &field.attributes));
    distinct_names("field", names, sink);
    for field in &form.fields {
        known_format(field, sink);
        bounds::constant_default(field.default.as_ref(), sink);
        bounds::range_is_not_empty(field.range.as_ref(), sink);
        bounds::range_is_not_empty(field.length.as_ref(), sink);
        bounds::default_in_range(field.default.as_ref(), field.range.as_ref(), sink);
    }
}

/// Checks an enum.
pub(crate) fn choice(choice: &Choice, item: &ItemEnum, sink: &mut Sink) {
    has_variant(item, sink);
    no_data(item, sink);
    not_generic("choice", &item.generics, sink);
    let names = choice.options.iter();
    distinct_names(
        "variant",
        names.map(|option| (&option.name, &option.attributes)),
        sink,
    );
}

/// The fields of a form have names, which the client displays.
fn named_fields(item: &ItemStruct, sink: &mut Sink) {
    let ident = &item.ident;
    match &item.fields {
        Fields::Named(_) => {}
        Fields::Unnamed(fields) => sink.error(
            fields,
            format!("the fields of a form need names; write `struct {ident} {{ name: Type }}`"),
        ),
        Fields::Unit => sink.error(
            ident,
            format!("a form needs fields; write `struct {ident} {{ name: Type }}`"),
        ),
    }
}

/// A choice has at least one variant.
fn has_variant(item: &ItemEnum, sink: &mut Sink) {
    if item.variants.is_empty() {
        sink.error(&item.ident, "a choice needs at least one variant; add one");
    }
}

/// The variants of a choice carry no data.
fn no_data(item: &ItemEnum, sink: &mut Sink) {
    for variant in &item.variants {
        if !matches!(variant.fields, Fields::Unit) {
            sink.error(
                &variant.fields,
                "a variant of a choice can't carry data; add a field to the form for it",
            );
        }
    }
}

/// Forms and choices are concrete types.
fn not_generic(noun: &str, generics: &Generics, sink: &mut Sink) {
    if !generics.params.is_empty() {
        sink.error(
            &generics.params,
            format!("a {noun} can't be generic; write concrete types"),
        );
    }
}

/// Names are not empty and are distinct. Duplicate Rust names are left to rustc. Names under different `cfg`s are assumed
/// to be mutually exclusive.
fn distinct_names<'a>(
    noun: &str,
    names: impl Iterator<Item = (&'a Name, &'a RustcAttributes)>,
    sink: &mut Sink,
) {
    let mut earlier: Vec<(&Name, &RustcAttributes)> = Vec::new();
    for (name, attributes) in names {
        let text = &name.text;
        let clashes = |(other, others): &(&Name, &RustcAttributes)| {
            other.text == *text && (other.given || name.given) && !exclusive(others, attributes)
        };
        if text.is_empty() {
            sink.error(
                &name.tokens,
                format!("a {noun} needs a name; write at least one character"),
            );
        } else if earlier.iter().any(clashes) {
            sink.error(
                &name.tokens,
                format!("another {noun} is named `{text}`; rename one"),
            );
        }
        earlier.push((name, attributes));
    }
}

/// Returns `true` if both are under a `cfg`, and these differ.
fn exclusive(one: &RustcAttributes, other: &RustcAttributes) -> bool {
    let cfg = |attributes: &RustcAttributes| {
        let cfg = &attributes.cfg;
        quote!(#(#cfg)*).to_string()
    };
    !one.cfg.is_empty() && !other.cfg.is_empty() && cfg(one) != cfg(other)
}

/// The format is one that the protocol defines.
fn known_format(field: &Field, sink: &mut Sink) {
    if let Some(format) = &field.format {
        let text = format.value.value();
        if !FORMATS.contains(&&*text) {
            sink.error(&format.value, unknown("format", &text, &FORMATS));
        }
    }
}
