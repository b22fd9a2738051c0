//! Rendering of the module.

mod boxes;
mod choice;
mod constructor;
mod methods;
mod names;
mod record;
mod text;
mod types;
mod union;

use std::collections::BTreeMap;

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use self::boxes::Boxes;
use self::names::Named;
pub(super) use self::text::RenderError;
use self::text::Text;
use super::budget::MAX_OUTPUT;
use super::docs::Docs;
use super::lock::Lock;
use super::plan::{Method, Plan};
use super::schema::{Kind, Shape, TypeId};

/// Input of the renderers.
#[derive(Debug)]
pub(super) struct Input<'a> {
    pub lock: &'a Lock,
    pub plan: &'a Plan,
    /// The name of the client.
    pub client: &'a str,
    /// The path of Treenail.
    pub krate: &'a TokenStream,
    named: Named,
    boxes: Boxes,
    /// Descriptions of types without documentation.
    uses: BTreeMap<TypeId, String>,
}

/// Renders the text of the module.
pub(super) fn module(
    lock: &Lock,
    plan: &Plan,
    client: &str,
    krate: &TokenStream,
) -> Result<String, RenderError> {
    if lock.text().len() > MAX_OUTPUT {
        return Err(RenderError::TooLarge);
    }
    let mut uses = BTreeMap::new();
    for (id, purpose) in plan.methods.iter().flat_map(uses_of) {
        uses.entry(id).or_insert(purpose);
    }
    let named = Named::of(plan);
    let input = Input {
        lock,
        plan,
        client,
        krate,
        boxes: Boxes::of(&plan.types, &named.order),
        named,
        uses,
    };
    let mut text = Text::default();
    input.client(&mut text)?;
    input.types(&mut text)?;
    Ok(text.spaced())
}

/// The types of a method, with descriptions of their use.
fn uses_of(method: &Method) -> impl Iterator<Item = (TypeId, String)> {
    let output = method.output().and_then(Shape::id);
    let returned = output.map(|id| (id, format!("Output of `{}`.", method.name)));
    let taken = method.arguments.as_ref().and_then(Shape::id);
    let taken = taken.map(|id| (id, format!("Arguments of `{}`.", method.name)));
    taken.into_iter().chain(returned)
}

/// The attributes that allow lints about names and sizes, which the server chose.
///
/// The code must also not be formatted, since it would differ from the generated code. The attribute works without a prelude
/// too.
fn allowed(more: &TokenStream) -> TokenStream {
    quote! {
        #[cfg_attr(rustfmt, rustfmt::skip)]
        #[allow(
            dead_code,
            unreachable_pub,
            unused_qualifications,
            clippy::deprecated_cfg_attr,
            clippy::doc_markdown,
            #more
            reason = "the server chose names and sizes, and a program may not use all items"
        )]
    }
}

impl Input<'_> {
    fn types(&self, text: &mut Text) -> Result<(), RenderError> {
        let krate = self.krate;
        let allowed = allowed(&quote! {
            unnameable_types,
            clippy::enum_variant_names,
            clippy::excessive_nesting,
            clippy::fn_params_excessive_bools,
            clippy::large_enum_variant,
            clippy::struct_excessive_bools,
            clippy::struct_field_names,
            clippy::too_many_arguments,
            clippy::too_many_lines,
            clippy::type_complexity,
            clippy::unreadable_literal,
            clippy::upper_case_acronyms,
            clippy::zero_sized_map_values,
        });
        text.open(quote! {
            /// Types of the arguments and outputs.
            #allowed
            pub mod types {
                #[allow(unused_imports, reason = "which of them are needed depends on the server")]
                use ::std::{collections::BTreeMap, prelude::rust_2021::*};
                #[allow(unused_imports, reason = "which of them are needed depends on the server")]
                use #krate::__generated::serde::{Deserialize, Deserializer, Serialize, Serializer};

                #[allow(unused_imports, reason = "which of them are needed depends on the server")]
                #[doc(no_inline)]
                pub use #krate::{__generated::serde_json::Value, schema::JsonObject};
            }
        })?;
        for id in &self.named.order {
            text.in_module(&self.named_type(*id))?;
        }
        for (alias, id) in self.plan.types.aliases() {
            let [alias, ty] = [alias, id].map(|id| format_ident!("{}", self.named.name(*id)));
            let docs = format!(" The same type as [`{ty}`].");
            text.in_module(&quote! { #[doc = #docs] pub type #alias = #ty; })?;
        }
        text.close()
    }

    fn named_type(&self, id: TypeId) -> TokenStream {
        let ty = self.plan.types.get(id);
        let mut docs = Docs::quoted(ty.description.as_deref().unwrap_or_default());
        let otherwise = "Part of an argument or an output.";
        let otherwise = self.uses.get(&id).map_or(otherwise, String::as_str);
        let mut note = |note: Option<&str>| {
            if let Some(note) = note {
                if docs.is_empty() {
                    docs.add(otherwise);
                }
                docs.add(note);
            }
        };
        let item = match &ty.kind {
            Kind::Record(record) => {
                note(record.note.as_deref());
                self.record(id, record)
            }
            Kind::Choice(literals) => self.choice(id, literals),
            Kind::Union {
                selection,
                alternatives,
            } => self.union(id, selection, alternatives),
            Kind::Newtype(shape) => {
                note(types::reason(shape).map(record::because).as_deref());
                self.newtype(id, shape)
            }
            Kind::Unknown | Kind::Merging => TokenStream::new(),
        };
        let docs = docs.render(otherwise);
        quote! { #docs #item }
    }

    /// The attribute with the path of serde.
    fn serde(&self) -> TokenStream {
        let path = self.serde_path();
        quote! { #[serde(crate = #path)] }
    }

    fn serde_path(&self) -> String {
        self.generated("serde")
    }

    /// The path of an item for generated code, as attributes of serde take it.
    fn generated(&self, item: &str) -> String {
        let path: String = self.krate.to_string().split_whitespace().collect();
        format!("{path}::__generated::{item}")
    }
}
