//! Attributes that have no effect on a form, since they belong to tools or to other derives.

use quote::ToTokens;
use syn::{Attribute, Item};

use crate::diag::Sink;
use crate::mcp_type::attributes::{has_ident, is_one_of};
use crate::mcp_type::understood::derives_others;
use crate::tool::model::extract;

/// Attributes that a form does not read.
const FOREIGN: [&str; 3] = ["arg", "schemars", "serde"];

/// Reports and removes foreign attributes, unless `#[mcp_type]` or a derive below `#[mcp_form]` may read them. They may not rename
/// a member without a name for the form.
pub(super) fn reject(item: &mut Item, sink: &mut Sink) {
    let (own, members, noun): (_, Vec<_>, _) = match item {
        Item::Struct(item) => {
            let fields = item.fields.iter_mut();
            (
                &mut item.attrs,
                fields.map(|it| &mut it.attrs).collect(),
                "field",
            )
        }
        Item::Enum(item) => {
            let variants = item.variants.iter_mut();
            (
                &mut item.attrs,
                variants.map(|it| &mut it.attrs).collect(),
                "variant",
            )
        }
        _ => return,
    };
    if own.iter().any(is_of_reader) {
        return reject_renames(own, &members, noun, sink);
    }
    for foreign in extract(own, is_foreign) {
        let each = format!(" on each {noun}");
        sink.error(foreign.path(), message(&foreign, &each));
    }
    for attributes in members {
        for foreign in extract(attributes, is_foreign) {
            sink.error(foreign.path(), message(&foreign, ""));
        }
    }
}

/// Reports a name that serde has for a member, if the form has none: the member would have two names.
fn reject_renames(own: &[Attribute], members: &[&mut Vec<Attribute>], noun: &str, sink: &mut Sink) {
    let has = |attribute: &Attribute, path: &str, keys: &[&str]| {
        let tokens = attribute.meta.to_token_stream();
        attribute.path().is_ident(path) && has_ident(tokens, &|ident| keys.contains(&ident))
    };
    let is_unnamed = |attributes: &&&mut Vec<Attribute>| {
        let mut attributes = attributes.iter();
        !attributes.any(|attribute| has(attribute, "field", &["name"]))
    };
    let mut unnamed = members.iter().filter(is_unnamed);
    let renames = |attribute: &&Attribute| has(attribute, "serde", &["rename", "rename_all"]);
    let renaming = unnamed.find_map(|attributes| attributes.iter().chain(own).find(renames));
    if let Some(renaming) = renaming {
        sink.error(
            renaming.path(),
            message(renaming, &format!(" on each {noun}")),
        );
    }
}

/// Returns `true` for a derive that may read foreign attributes, for `#[mcp_type]` below `#[mcp_form]`, or for a key that `#[mcp_type]` adds for its own derives.
fn is_of_reader(attribute: &Attribute) -> bool {
    let names_crate = has_ident(attribute.meta.to_token_stream(), &|name| name == "crate");
    let last = attribute.path().segments.last();
    derives_others(attribute)
        || last.is_some_and(|last| last.ident == "mcp_type")
        || attribute.path().is_ident("cfg_attr")
        || is_foreign(attribute) && names_crate
}

fn is_foreign(attribute: &Attribute) -> bool {
    is_one_of(attribute, &FOREIGN)
}

/// Error message with the key of `#[field]` that has the effect of the attribute, if there is one.
fn message(foreign: &Attribute, each: &str) -> String {
    let name = foreign.path().to_token_stream();
    if foreign.path().is_ident("arg") {
        return format!("a form takes `#[field(…)]`; write it in place of `#[{name}(…)]`");
    }
    let has = |names: &[&str]| {
        let key = foreign.meta.to_token_stream();
        has_ident(key, &|ident| names.contains(&ident))
    };
    let correction = if has(&["rename", "rename_all"]) {
        format!("write `#[field(name = \"…\")]`{each}")
    } else if has(&["default"]) {
        format!("write `#[field(default)]`{each}")
    } else {
        "remove this".to_owned()
    };
    format!("a form takes `#[field(…)]` and does not use {name}; {correction}")
}
