//! Models of forms and choices.
//!
//! Reading an item removes our own attributes from it, because rustc does not know them.

use proc_macro2::TokenStream;
use syn::{Attribute, Expr, ExprRange, Ident, ItemEnum, ItemStruct, LitStr, Type};

use crate::args::{Attr, Keys};
use crate::cfg_attr;
use crate::diag::Sink;
use crate::docs;
use crate::tool::model::{Name, extract};

const FIELD_KEYS: [&str; 6] = ["name", "title", "default", "range", "length", "format"];

const OPTION_KEYS: [&str; 2] = ["name", "title"];

/// A form: a struct.
pub(crate) struct Form {
    pub(crate) fields: Vec<Field>,
}

/// A field of a form.
pub(crate) struct Field {
    pub(crate) ident: Ident,
    pub(crate) name: Name,
    pub(crate) ty: Type,
    pub(crate) title: Option<LitStr>,
    pub(crate) description: Option<TokenStream>,
    pub(crate) default: Option<Attr<Option<Expr>>>,
    pub(crate) range: Option<Attr<ExprRange>>,
    pub(crate) length: Option<Attr<ExprRange>>,
    pub(crate) format: Option<Attr<LitStr>>,
    pub(crate) attributes: RustcAttributes,
}

/// A choice: an enum.
pub(crate) struct Choice {
    pub(crate) options: Vec<ChoiceOption>,
}

/// One option of a choice: a variant.
pub(crate) struct ChoiceOption {
    pub(crate) ident: Ident,
    pub(crate) name: Name,
    pub(crate) title: Option<LitStr>,
    pub(crate) attributes: RustcAttributes,
}

/// Attributes of rustc that affect the generated code.
pub(crate) struct RustcAttributes {
    pub(crate) cfg: Vec<Attribute>,
    pub(crate) deprecated: bool,
}

impl Form {
    /// Reads the fields, except those without names.
    pub(crate) fn read(item: &mut ItemStruct, sink: &mut Sink) -> Self {
        let fields = item.fields.iter_mut();
        let fields = fields
            .filter_map(|field| Field::read(field, sink))
            .collect();
        Self { fields }
    }
}

impl Field {
    fn read(field: &mut syn::Field, sink: &mut Sink) -> Option<Self> {
        let mut keys = keys(&mut field.attrs, "field", &FIELD_KEYS, sink);
        let ident = field.ident.clone()?;
        Some(Self {
            name: Name::new(keys.string("name", sink), Some(&ident), &ident),
            ty: field.ty.clone(),
            title: keys.string("title", sink),
            description: docs::text(&field.attrs),
            default: keys.optional_expr("default"),
            range: keys.range("range", sink),
            length: keys.range("length", sink),
            format: keys.string_attr("format", sink),
            attributes: RustcAttributes::find(&field.attrs),
            ident,
        })
    }
}

impl Choice {
    pub(crate) fn read(item: &mut ItemEnum, sink: &mut Sink) -> Self {
        let options = item.variants.iter_mut().map(|variant| {
            let mut keys = keys(&mut variant.attrs, "variant", &OPTION_KEYS, sink);
            for data in &mut variant.fields {
                extract(&mut data.attrs, is_ours);
            }
            let ident = variant.ident.clone();
            ChoiceOption {
                name: Name::new(keys.string("name", sink), Some(&ident), &ident),
                title: keys.string("title", sink),
                attributes: RustcAttributes::find(&variant.attrs),
                ident,
            }
        });
        let options = options.collect();
        Self { options }
    }
}

impl RustcAttributes {
    fn find(attributes: &[Attribute]) -> Self {
        Self {
            cfg: cfg_attr::cfgs(attributes),
            deprecated: cfg_attr::first(attributes, "deprecated").is_some(),
        }
    }
}

/// Removes `#[field(…)]` from a field or a variant (`noun`), and returns its keys.
fn keys(attributes: &mut Vec<Attribute>, noun: &str, known: &[&str], sink: &mut Sink) -> Keys {
    cfg_attr::reject_marks(attributes, is_ours, noun, sink);
    Keys::of(&extract(attributes, is_ours), known, sink)
}

fn is_ours(attribute: &Attribute) -> bool {
    attribute.path().is_ident("field")
}
