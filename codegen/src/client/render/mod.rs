//! Writes the module.

mod choice;
mod methods;
mod names;
mod record;
mod types;
mod union;

use proc_macro2::TokenStream;
use quote::quote;

use self::names::Named;
use super::docs::Docs;
use super::lock::Lock;
use super::plan::{Call, Plan};
use super::schema::{Kind, Shape, TypeId};

/// Everything that is looked up while writing.
#[derive(Debug)]
pub(super) struct Input<'a> {
    pub lock: &'a Lock,
    pub plan: &'a Plan,
    /// The name of the client.
    pub client: &'a str,
    /// The path of Treenail.
    pub krate: &'a TokenStream,
    named: Named,
}

/// The text of the module, or why it is no Rust.
pub(super) fn module(
    lock: &Lock,
    plan: &Plan,
    client: &str,
    krate: &TokenStream,
) -> Result<String, syn::Error> {
    let input = Input {
        lock,
        plan,
        client,
        krate,
        named: Named::of(plan),
    };
    let (client, types) = (input.client(), input.types());
    let file: syn::File = syn::parse2(quote! { #client #types })?;
    Ok(spaced(&prettyplease::unparse(&file)))
}

/// Puts an empty line after each item and method that ends in a brace; prettyplease leaves none.
fn spaced(code: &str) -> String {
    let mut spaced = String::new();
    let mut lines = code.lines().peekable();
    while let Some(line) = lines.next() {
        spaced.push_str(line);
        spaced.push('\n');
        let ends = matches!(line, "}" | "    }" | "        }") && !line.is_empty();
        let next = lines.peek().map(|next| next.trim_start());
        let goes_on = next.is_some_and(|next| {
            next.starts_with("///")
                || next.starts_with("#[")
                || next.starts_with("impl")
                || next.starts_with("pub ")
        });
        if ends && goes_on {
            spaced.push('\n');
        }
    }
    spaced
}

/// What the names and the number of things give reason to, which the server chose and not the reader.
fn allowed(more: &TokenStream) -> TokenStream {
    quote! {
        #[allow(
            dead_code,
            unreachable_pub,
            unused_qualifications,
            clippy::doc_markdown,
            #more
            reason = "the server chose names and sizes, and not all of it is used everywhere"
        )]
    }
}

impl Input<'_> {
    fn types(&self) -> TokenStream {
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
        });
        let types = self.named.order.iter().map(|id| self.named_type(*id));
        quote! {
            /// What the methods take and return.
            #allowed
            pub mod types {
                #[allow(unused_imports, reason = "which of them are needed depends on the server")]
                use ::std::{collections::BTreeMap, prelude::rust_2021::*};
                #[allow(unused_imports, reason = "which of them are needed depends on the server")]
                use #krate::__private::serde::{Deserialize, Deserializer, Serialize, Serializer};

                #[doc(no_inline)]
                pub use #krate::{__private::serde_json::Value, schema::JsonObject};

                #(#types)*
            }
        }
    }

    fn named_type(&self, id: TypeId) -> TokenStream {
        let ty = self.plan.types.get(id);
        let mut docs = Docs::quoted(ty.description.as_deref().unwrap_or_default());
        let mut note = |note: Option<&str>| note.into_iter().for_each(|note| docs.add(note));
        let item = match &ty.kind {
            Kind::Record(record) => {
                note(record.note.as_deref());
                self.record(id, record)
            }
            Kind::Choice(literals) => self.choice(id, literals),
            Kind::Union { tag, alternatives } => self.union(id, tag.as_ref(), alternatives),
            Kind::Newtype(shape) => {
                note(types::reason(shape).map(record::because).as_deref());
                self.newtype(id, shape)
            }
            Kind::Unknown | Kind::Merging => TokenStream::new(),
        };
        let docs = docs.render(&self.used_by(id));
        quote! { #docs #item }
    }

    /// What a type is for, if nothing is said of it.
    fn used_by(&self, id: TypeId) -> String {
        let shape = Shape::Named(id);
        for method in &self.plan.methods {
            if method.arguments.as_ref() == Some(&shape) {
                return format!("What `{}` takes.", method.name);
            }
            if matches!(&method.call, Call::Tool(Some(output)) if *output == shape) {
                return format!("What `{}` returns.", method.name);
            }
        }
        "A part of what the server takes or returns.".to_owned()
    }

    /// The attribute that says where serde is.
    fn serde(&self) -> TokenStream {
        let path = self.serde_path();
        quote! { #[serde(crate = #path)] }
    }

    fn serde_path(&self) -> String {
        let path: String = self.krate.to_string().split_whitespace().collect();
        format!("{path}::__private::serde")
    }
}
