//! Rust types of the fields, extracted from typify's output for the merged definitions.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use heck::ToPascalCase as _;
use schemars::schema::Schema;
use serde_json::{Map, Value, json};
use syn::visit_mut::{self, VisitMut};
use typify::{TypeSpace, TypeSpaceImpl, TypeSpaceSettings};

use crate::protocol::merge::{Kind, Merged};
use crate::protocol::overlay::Overlay;

/// Typify's types for the merged definitions, by Rust name.
#[derive(Default)]
pub(crate) struct Types {
    pub records: BTreeMap<String, Vec<FieldType>>,
    pub choices: BTreeMap<String, Vec<Variant>>,
}

pub(crate) struct FieldType {
    /// The member's name in JSON.
    pub member: String,
    pub ident: syn::Ident,
    /// The type of the value when it is present.
    pub ty: syn::Type,
}

pub(crate) struct Variant {
    pub value: String,
    pub ident: syn::Ident,
}

/// The Rust name of a definition.
pub(crate) fn rust_name(definition: &str) -> String {
    definition.to_pascal_case()
}

/// Runs typify and extracts the types from its output.
pub(crate) fn run(merged: &Merged, overlay: &Overlay) -> Result<Types> {
    let mut settings = TypeSpaceSettings::default();
    settings.with_map_type("::std::collections::BTreeMap".to_owned());
    let mut definitions: Vec<(String, Schema)> = Vec::new();
    let mut replace = |name: &str| {
        let rust = rust_name(name);
        settings.with_replacement(&rust, &rust, std::iter::empty::<TypeSpaceImpl>());
    };
    for name in overlay.externals() {
        replace(name);
        definitions.push((name.to_owned(), Schema::Bool(true)));
    }
    for (name, definition) in &merged.definitions {
        if let Some(schema) = schema(&definition.kind) {
            definitions.push((name.clone(), serde_json::from_value(schema)?));
        } else {
            replace(name);
            definitions.push((name.clone(), Schema::Bool(true)));
        }
    }
    let mut space = TypeSpace::new(&settings);
    space.add_ref_types(definitions).context("typify")?;
    let mut file: syn::File = syn::parse2(space.to_stream()).context("typify's output")?;
    let mut paths = ShortPaths {
        overlay,
        error: None,
    };
    paths.visit_file_mut(&mut file);
    if let Some(error) = paths.error {
        return Err(error);
    }
    take_apart(file.items, merged)
}

/// The schema for typify; `None` for kinds that it does not support.
fn schema(kind: &Kind) -> Option<Value> {
    match kind {
        Kind::Record { fields, .. } if !fields.is_empty() => {
            let properties: Map<String, Value> = fields
                .iter()
                .map(|(name, field)| (name.clone(), field.schema.clone()))
                .collect();
            // All are required, because typify omits the `Option` of an optional list.
            let required: Vec<_> = fields.keys().collect();
            Some(json!({ "type": "object", "properties": properties, "required": required }))
        }
        Kind::Choice(values) => Some(json!({ "type": "string", "enum": values })),
        _ => None,
    }
}

fn take_apart(items: Vec<syn::Item>, merged: &Merged) -> Result<Types> {
    let wanted: Vec<String> = merged
        .definitions
        .keys()
        .map(String::as_str)
        .map(rust_name)
        .collect();
    let mut types = Types::default();
    for item in items {
        match item {
            syn::Item::Struct(item) if wanted.contains(&item.ident.to_string()) => {
                let fields = item.fields.into_iter().map(field).collect::<Result<_>>()?;
                types.records.insert(item.ident.to_string(), fields);
            }
            syn::Item::Enum(item) if wanted.contains(&item.ident.to_string()) => {
                let variants = item.variants.into_iter().map(|variant| Variant {
                    value: renamed(&variant.attrs).unwrap_or_else(|| variant.ident.to_string()),
                    ident: variant.ident,
                });
                types
                    .choices
                    .insert(item.ident.to_string(), variants.collect());
            }
            syn::Item::Struct(syn::ItemStruct { ident, .. })
            | syn::Item::Enum(syn::ItemEnum { ident, .. }) => {
                bail!("typify generated {ident}, which has no definition")
            }
            _ => {}
        }
    }
    Ok(types)
}

fn field(field: syn::Field) -> Result<FieldType> {
    let ident = field
        .ident
        .context("typify generated a tuple struct for a record")?;
    let member = renamed(&field.attrs).unwrap_or_else(|| ident.to_string());
    let short = ident.to_string();
    let ident = match short.strip_prefix("io_modelcontextprotocol_") {
        Some(short) => syn::Ident::new(short, ident.span()),
        None => ident,
    };
    Ok(FieldType {
        member,
        ident,
        ty: field.ty,
    })
}

/// The name in `#[serde(rename = "…")]`.
fn renamed(attributes: &[syn::Attribute]) -> Option<String> {
    let mut name = None;
    for attribute in attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident("serde"))
    {
        // Parsing stops at keys without a value; typify writes the name before them.
        let _ = attribute.parse_nested_meta(|meta| {
            let value: syn::LitStr = meta.value()?.parse()?;
            if meta.path.is_ident("rename") {
                name = Some(value.value());
            }
            Ok(())
        });
    }
    name
}

/// Shortens `::std::vec::Vec` to `Vec`, and substitutes the hand-written types.
struct ShortPaths<'a> {
    overlay: &'a Overlay,
    error: Option<anyhow::Error>,
}

impl VisitMut for ShortPaths<'_> {
    fn visit_type_path_mut(&mut self, ty: &mut syn::TypePath) {
        visit_mut::visit_type_path_mut(self, ty);
        let Some(last) = ty.path.segments.last().cloned() else {
            return;
        };
        ty.path.leading_colon = None;
        ty.path.segments = std::iter::once(last.clone()).collect();
        if let Some(external) = self
            .overlay
            .externals()
            .find(|name| last.ident == rust_name(name))
            .and_then(|name| self.overlay.external(name))
        {
            match syn::parse_str(external) {
                Ok(path) => ty.path = path,
                Err(error) => self.error = Some(error.into()),
            }
        }
    }
}
