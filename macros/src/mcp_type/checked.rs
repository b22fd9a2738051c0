//! Copies of an item whose derived code names one trait for each field, so that an unsuitable field is one error.
//!
//! The derives of serde and schemars would report it six times, each time with the advice to derive a trait from a crate that
//! the user need not have.

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::spanned::Spanned;
use syn::{
    Attribute, Field, Fields, GenericArgument, Item, LitStr, PathArguments, Type, parse_quote,
    parse_quote_spanned,
};

use super::attributes::{attributes, has_ident, is_of_derives, is_one_of, own};
use super::direction::Direction;
use super::understood::is_understood;
use crate::krate::Krate;
use crate::lints::levels_beside;
use crate::signature::peel;

/// The item, and its copies for the derives, which are discarded after that.
///
/// Expand to
/// ```text
/// struct Place { at: Vec<Point> }
/// struct Place { #[serde(serialize_with = "<Suitable<…> as FieldType<Point, Vec<Point>>>::serialize", …)] at: Vec<Point> }
/// struct Place { at: <Suitable<…> as FieldType<Point, Vec<Point>>>::Same }
/// ```
/// where `Suitable<…>` is `Suitable<true>` if the type of the field has the three traits. A type of one direction has fields with
/// two of them, and `InputFieldType` or `OutputFieldType` in place of `FieldType`. A named `Option` has no function to deserialize
/// it, with which serde would require it, or with `default` supply it in arrays, too.
pub(super) struct Copies {
    pub(super) plain: Item,
    /// Lint levels for the derived code.
    pub(super) levels: Vec<Attribute>,
    pub(super) for_serde: Item,
    pub(super) for_schema: Item,
}

/// Attributes that are part of a copy.
const OF_COPIES: [&str; 5] = ["cfg", "deprecated", "doc", "schemars", "serde"];

/// Generic types that have the traits if their parameters have.
const CONTAINERS: [&str; 7] = [
    "BTreeMap", "BTreeSet", "Box", "HashMap", "HashSet", "Option", "Vec",
];

/// Types that have the traits.
const SUITABLE: [&str; 20] = [
    "String", "Value", "bool", "char", "f32", "f64", "i128", "i16", "i32", "i64", "i8", "isize",
    "u128", "u16", "u32", "u64", "u8", "usize", "str", "PathBuf",
];

/// Types of the crates that have features. None of them is an alias of an `Option`, which may be missing.
const OF_FEATURES: [&str; 12] = [
    "Date",
    "DateTime",
    "Decimal",
    "NaiveDate",
    "NaiveDateTime",
    "NaiveTime",
    "Span",
    "Time",
    "Timestamp",
    "Url",
    "Uuid",
    "Zoned",
];

/// Returns the copies if the item has fields to check, and nothing that hides their requirements.
pub(super) fn copies(krate: &Krate, direction: Direction, item: &TokenStream) -> Option<Copies> {
    let mut plain: Item = syn::parse2(item.clone()).ok()?;
    if !is_understood(&mut plain) {
        return None;
    }
    let (mut for_serde, mut for_schema) = (plain.clone(), plain.clone());
    attributes(&mut plain, |attributes| {
        attributes.retain(|attribute| !is_of_derives(attribute));
    });
    let levels = levels_beside(own(&plain));
    let mut count = 0;
    checked_fields(&mut for_serde, |field, leaf| {
        let checked = checked_type(krate, direction, (leaf, &field.ty));
        add_functions(direction, field, (leaf, &checked));
        count += 1;
    });
    checked_fields(&mut for_schema, |field, leaf| {
        let checked = checked_type(krate, direction, (leaf, &field.ty));
        field.ty = parse_quote_spanned!(leaf.span()=> #checked::Same);
    });
    let keep = |attributes: &mut Vec<Attribute>, schemars: bool| {
        attributes.retain(|attribute| {
            is_one_of(attribute, &OF_COPIES) && (schemars || !attribute.path().is_ident("schemars"))
        });
    };
    attributes(&mut for_serde, |attributes| keep(attributes, false));
    attributes(&mut for_schema, |attributes| keep(attributes, true));
    (count > 0).then_some(Copies {
        plain,
        levels,
        for_serde,
        for_schema,
    })
}

/// Returns the implementation of the functions of a field. It exists if the type of the field has the traits of the direction.
fn checked_type(krate: &Krate, direction: Direction, (leaf, field): (&Type, &Type)) -> TokenStream {
    let (field_trait, constant) = direction.field_trait();
    let checked = quote! {
        <#krate::args::Suitable<{
            #[allow(unused_imports)]
            use #krate::__private_0_1_0::LacksTraits as _;
            #krate::__private_0_1_0::FieldTraits::<#field>::#constant
        }> as #krate::args::#field_trait<#leaf, #field>>
    };
    at(checked, leaf.span())
}

/// Adds the functions of the checked type to a field: a named `Option` is read without one, and may be missing.
fn add_functions(direction: Direction, field: &mut Field, (leaf, checked): (&Type, &TokenStream)) {
    let attribute = |key: &str, function: &str| -> Attribute {
        let key = Ident::new(key, Span::call_site());
        let path = LitStr::new(&format!("{checked}::{function}"), leaf.span());
        parse_quote!(#[serde(#key = #path)])
    };
    if direction.writes() {
        field.attrs.push(attribute("serialize_with", "serialize"));
    }
    let is_option = outermost(unboxed(&field.ty)).is_some_and(|name| name == "Option");
    if direction.reads() && !(is_option && field.ident.is_some()) {
        let attribute = attribute("deserialize_with", "deserialize");
        field.attrs.push(attribute);
    }
}

/// Moves all tokens to `span`: equal errors at one place are reported once.
fn at(tokens: TokenStream, span: Span) -> TokenStream {
    let tokens = tokens.into_iter().map(|mut token| {
        if let TokenTree::Group(group) = &token {
            token = Group::new(group.delimiter(), at(group.stream(), span)).into();
        }
        token.set_span(span);
        token
    });
    tokens.collect()
}

/// Runs `change` on the fields to check, and the types in them that may lack a trait.
fn checked_fields(item: &mut Item, mut change: impl FnMut(&mut Field, &Type)) {
    let mut change_all = |fields: &mut Fields| {
        let plain = |field: &&mut Field| !field.attrs.iter().any(is_of_derives);
        for field in fields.iter_mut().filter(plain) {
            if let Some(leaf) = checked_leaf(field) {
                change(field, &leaf);
            }
        }
    };
    match item {
        Item::Struct(item) => change_all(&mut item.fields),
        Item::Enum(item) => {
            let variants = item.variants.iter_mut();
            variants
                .filter(|variant| !variant.attrs.iter().any(is_of_derives))
                .for_each(|variant| change_all(&mut variant.fields));
        }
        _ => {}
    }
}

/// Returns the type in a field that may lack a trait, if the field can be checked.
///
/// A named field of a type that may be an alias of an `Option` cannot: with a function of its own, it could not be missing.
fn checked_leaf(field: &Field) -> Option<Type> {
    let tokens = field.ty.to_token_stream();
    let is_owned = !tokens.to_string().contains(['&', '\'', '$', '!']);
    let is_plain = is_owned
        && !has_ident(tokens, &|name| {
            matches!(name, "Self" | "dyn" | "fn" | "impl")
        });
    let name = outermost(unboxed(&field.ty)).filter(|_| is_plain)?;
    let is_known = CONTAINERS.contains(&&*name) || OF_FEATURES.contains(&&*name);
    leaf(&field.ty)
        .filter(|_| is_known || field.ident.is_none())
        .cloned()
}

/// Returns the type within containers that may lack a trait: a container itself if several of its parameters may.
fn leaf(ty: &Type) -> Option<&Type> {
    let name = outermost(ty)?;
    if SUITABLE.contains(&&*name) {
        return None;
    }
    if !CONTAINERS.contains(&&*name) {
        return Some(ty);
    }
    let mut leaves = parameters(ty).filter_map(leaf);
    let first = leaves.next()?;
    Some(leaves.next().map_or(first, |_| ty))
}

/// Returns the type within any boxes: a boxed `Option` may be missing, too.
fn unboxed(ty: &Type) -> &Type {
    let is_box = outermost(ty).is_some_and(|name| name == "Box");
    let inner = parameters(ty).next().filter(|_| is_box);
    inner.map_or(ty, unboxed)
}

/// Returns the types among the parameters of a type.
pub(super) fn parameters(ty: &Type) -> impl Iterator<Item = &Type> {
    let last = match peel(ty) {
        Type::Path(path) => path.path.segments.last(),
        _ => None,
    };
    let arguments = last.and_then(|last| match &last.arguments {
        PathArguments::AngleBracketed(arguments) => Some(&arguments.args),
        _ => None,
    });
    let arguments = arguments.into_iter().flatten();
    arguments.filter_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    })
}

/// Returns the name of the outermost type.
pub(super) fn outermost(ty: &Type) -> Option<String> {
    match peel(ty) {
        Type::Path(path) if path.qself.is_none() => {
            Some(path.path.segments.last()?.ident.to_string())
        }
        _ => None,
    }
}
