//! Model of the parts of a contract.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote_spanned};
use syn::ext::IdentExt;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{
    Attribute, Path, ReturnType, Signature, Token, Type, TypeImplTrait, TypeParamBound,
    TypeReference,
};

use crate::args::Keys;
use crate::cfg_attr;
use crate::client::parse::Method;
use crate::diag::Sink;
use crate::lints;
use crate::signature::peel;
use crate::tool::model::Name;

/// A method with `#[namespace]`, which returns a value with a contract of its own.
pub(crate) struct Part {
    pub(crate) name: Name,
    pub(crate) docs: Vec<Attribute>,
    pub(crate) cfg: Vec<Attribute>,
    pub(crate) lints: Vec<Attribute>,
    pub(crate) deprecated: Option<Attribute>,
    pub(crate) signature: Signature,
    /// Marks that can't be combined with `#[namespace]`.
    pub(crate) others: Vec<Attribute>,
    /// The trait of the part. `None` if the return type is not `&impl Trait`.
    pub(crate) of: Option<Path>,
}

impl Part {
    pub(super) fn read(
        method: &mut Method,
        marks: &[Attribute],
        others: Vec<Attribute>,
        sink: &mut Sink,
    ) -> Self {
        let mut keys = Keys::of(marks, &["name"], sink);
        let function = &method.function;
        let ident = &function.signature.ident;
        Self {
            name: Name::new(keys.string("name", sink), Some(ident), ident),
            docs: cfg_attr::named(&function.attributes, "doc"),
            cfg: cfg_attr::cfgs(&function.attributes),
            lints: lints::levels(&function.attributes),
            deprecated: cfg_attr::first(&function.attributes, "deprecated"),
            signature: function.signature.clone(),
            others,
            of: contract_of(&function.signature.output),
        }
    }

    /// The attributes that apply to generated code with the part's trait too.
    pub(crate) fn shared(&self) -> Vec<&Attribute> {
        self.cfg.iter().chain(&self.lints).collect()
    }

    /// The client of the part's trait, in the same module: `api::AlertsClient` for `api::Alerts`.
    pub(crate) fn client(&self) -> Option<Path> {
        let mut path = self.of.clone()?;
        let last = path.segments.last_mut()?;
        last.ident = format_ident!("{}Client", last.ident);
        Some(path)
    }

    /// The function that lists the tools of the part. It is a function of the client, if clients are generated, so that a
    /// trait that is not a contract causes only one error.
    pub(crate) fn tools(&self, of_trait: &Ident) -> TokenStream {
        let (of, part) = (&self.of, self.type_ident());
        match self.client() {
            Some(client) if cfg!(feature = "client") => {
                quote_spanned!(of.span()=> <#client>::mcp_tools::<<Self as #of_trait>::#part, __Whole, _>)
            }
            _ => quote_spanned!(of.span()=> <<Self as #of_trait>::#part as #of>::mcp_tools),
        }
    }

    /// The associated type of the part: `Alerts` for `alerts`.
    pub(crate) fn type_ident(&self) -> Ident {
        part_type(&self.signature.ident)
    }
}

/// The name of the associated type behind a method that returns a part: `Part2d` for `_2d`.
pub(crate) fn part_type(method: &Ident) -> Ident {
    let name = method.unraw().to_string();
    let words = name.split('_').map(|word| {
        let mut letters = word.chars();
        let first = letters.next().map(|first| first.to_ascii_uppercase());
        first.into_iter().chain(letters).collect::<String>()
    });
    let name = words.collect::<String>();
    let name = if name == "Self" {
        "SelfPart".to_owned()
    } else if syn::parse_str::<Ident>(&name).is_err() {
        format!("Part{name}")
    } else {
        name
    };
    Ident::new(&name, method.span())
}

/// The `Board` of `fn alerts(&self) -> &Board`.
pub(crate) fn returned_part(signature: &Signature) -> Option<&Type> {
    let is_plain = signature.receiver().is_some() && signature.inputs.len() == 1;
    let reference = reference(&signature.output).filter(|_| is_plain)?;
    Some(&reference.elem)
}

/// The `Trait` of `&impl Trait`.
fn contract_of(output: &ReturnType) -> Option<Path> {
    let reference = reference(output)?;
    let Type::ImplTrait(TypeImplTrait { bounds, .. }) = peel(&reference.elem) else {
        return None;
    };
    only_trait(bounds).filter(|_| reference.mutability.is_none())
}

fn reference(output: &ReturnType) -> Option<&TypeReference> {
    match output {
        ReturnType::Type(_, ty) => match peel(ty) {
            Type::Reference(reference) => Some(reference),
            _ => None,
        },
        ReturnType::Default => None,
    }
}

fn only_trait(bounds: &Punctuated<TypeParamBound, Token![+]>) -> Option<Path> {
    match (bounds.first(), bounds.len()) {
        (Some(TypeParamBound::Trait(bound)), 1) => Some(bound.path.clone()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::part_type;

    #[test]
    fn each_method_has_a_type_with_a_legal_name() {
        for (method, expected) in [
            ("alerts", "Alerts"),
            ("severe_alerts", "SevereAlerts"),
            ("r#type", "Type"),
            ("self_", "SelfPart"),
            ("_2d", "Part2d"),
            ("__", "Part"),
        ] {
            let method = syn::parse_str(method).unwrap();
            assert_eq!(part_type(&method), expected, "{method}");
        }
    }
}
