//! Model of a contract.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote_spanned};
use syn::ext::IdentExt;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{
    Attribute, FnArg, LitStr, Pat, Path, ReturnType, Signature, Token, Type, TypeImplTrait,
    TypeParamBound,
};

use crate::args::Keys;
use crate::cfg_attr;
use crate::diag::Sink;
use crate::docs;
use crate::signature::peel;
use crate::tool::model::{
    Argument, Feature, Input, Kind, Name, TOOL_KEYS, extract, is_mark, reject_conditional_marks,
};

use super::parse::{Member, Method, Trait};

/// A trait whose methods are tools.
pub(crate) struct Contract {
    pub(crate) namespace: Option<LitStr>,
    pub(crate) instructions: Option<TokenStream>,
    pub(crate) methods: Vec<Entry>,
}

/// A method of the trait.
#[allow(clippy::large_enum_variant, reason = "a few live for one expansion")]
pub(crate) enum Entry {
    Tool(Tool),
    Part(Part),
}

/// A method that is a tool.
pub(crate) struct Tool {
    pub(crate) feature: Feature,
    /// The documentation, as attributes.
    pub(crate) docs: Vec<Attribute>,
    /// Marks of prompts and resources, which are not allowed in a contract.
    pub(crate) others: Vec<Attribute>,
    pub(crate) parameters: Vec<Parameter>,
}

/// A parameter of a tool that the client passes.
pub(crate) struct Parameter {
    /// Its name in the generated client.
    pub(crate) ident: Ident,
    pub(crate) ty: Type,
    pub(crate) name: String,
    pub(crate) has_default: bool,
}

/// A method with `#[namespace]`, which returns a value with a contract of its own.
pub(crate) struct Part {
    pub(crate) name: Name,
    pub(crate) docs: Vec<Attribute>,
    pub(crate) cfg: Vec<Attribute>,
    pub(crate) deprecated: Option<Attribute>,
    pub(crate) signature: Signature,
    /// Marks that can't be combined with `#[namespace]`.
    pub(crate) others: Vec<Attribute>,
    /// The trait of the part. `None` if the return type is not `&impl Trait`.
    pub(crate) of: Option<Path>,
}

impl Contract {
    pub(crate) fn read(item: &mut Trait, keys: &mut Keys, sink: &mut Sink) -> Self {
        let namespace = keys.string("namespace", sink);
        let instructions = docs::text(&item.attributes);
        let methods = item.methods().map(|method| Entry::read(method, sink));
        Self {
            namespace,
            instructions,
            methods: methods.collect(),
        }
    }

    pub(crate) fn tools(&self) -> impl Iterator<Item = &Tool> {
        self.methods.iter().filter_map(|entry| match entry {
            Entry::Tool(tool) => Some(tool),
            Entry::Part(_) => None,
        })
    }

    pub(crate) fn parts(&self) -> impl Iterator<Item = &Part> {
        self.methods.iter().filter_map(|entry| match entry {
            Entry::Part(part) => Some(part),
            Entry::Tool(_) => None,
        })
    }
}

impl Entry {
    fn read(method: &mut Method, sink: &mut Sink) -> Self {
        let attributes = &mut method.function.attributes;
        reject_conditional_marks(attributes, sink);
        let namespace = extract(attributes, |mark| mark.path().is_ident("namespace"));
        let tool = extract(attributes, |mark| is_mark(mark.path(), "tool"));
        let mut others = extract(attributes, |mark| {
            ["prompt", "resource"]
                .iter()
                .any(|name| is_mark(mark.path(), name))
        });
        if namespace.is_empty() {
            return Self::Tool(Tool::read(method, &tool, others, sink));
        }
        others.extend(tool);
        Self::Part(Part::read(method, &namespace, others, sink))
    }

    /// The signature of the method.
    pub(crate) fn signature(&self) -> &Signature {
        match self {
            Self::Tool(tool) => &tool.feature.signature,
            Self::Part(part) => &part.signature,
        }
    }

    pub(crate) fn is_deprecated(&self) -> bool {
        match self {
            Self::Tool(tool) => tool.feature.deprecated.is_some(),
            Self::Part(part) => part.deprecated.is_some(),
        }
    }

    pub(crate) fn cfg(&self) -> &[Attribute] {
        match self {
            Self::Tool(tool) => &tool.feature.cfg,
            Self::Part(part) => &part.cfg,
        }
    }
}

impl Tool {
    fn read(
        method: &mut Method,
        marks: &[Attribute],
        others: Vec<Attribute>,
        sink: &mut Sink,
    ) -> Self {
        let mut keys = Keys::of(marks, &TOOL_KEYS, sink);
        let kind = Kind::tool(&mut keys, sink);
        let docs = cfg_attr::named(&method.function.attributes, "doc");
        let feature = Feature::read(&mut method.function, kind, &mut keys, sink);
        let mut names = feature.signature.inputs.iter().filter_map(given_name);
        let parameters = feature.inputs.iter().enumerate();
        let parameters = parameters.filter_map(|(index, input)| {
            let ident = names.next().flatten();
            match input {
                Input::Call(_) => None,
                Input::Argument(argument) => Some(Parameter::new(index, ident, argument)),
            }
        });
        Self {
            parameters: parameters.collect(),
            docs,
            others,
            feature,
        }
    }
}

/// The name of a parameter: `Some(None)` for a pattern, `None` for `self`.
#[allow(clippy::option_option, reason = "there are parameters without a name")]
fn given_name(input: &FnArg) -> Option<Option<Ident>> {
    match input {
        FnArg::Receiver(_) => None,
        FnArg::Typed(typed) => Some(match &*typed.pat {
            Pat::Ident(pat) => Some(pat.ident.clone()),
            _ => None,
        }),
    }
}

impl Parameter {
    fn new(index: usize, ident: Option<Ident>, argument: &Argument) -> Self {
        Self {
            ident: ident.unwrap_or_else(|| format_ident!("argument_{index}")),
            ty: argument.ty.clone(),
            name: argument.name.text.clone(),
            has_default: argument.default.is_some(),
        }
    }
}

impl Part {
    fn read(
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
            deprecated: cfg_attr::first(&function.attributes, "deprecated"),
            signature: function.signature.clone(),
            others,
            of: contract_of(&function.signature.output),
        }
    }

    /// The client of the part's trait, in the same module: `api::AlertsClient` for `api::Alerts`.
    pub(crate) fn client(&self) -> Option<Path> {
        let mut path = self.of.clone()?;
        let last = path.segments.last_mut()?;
        last.ident = Ident::new(&format!("{}Client", last.ident), last.ident.span());
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

/// The name of the associated type behind a method that returns a part.
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
    } else {
        name
    };
    Ident::new(&name, method.span())
}

/// The `Trait` of `&impl Trait`.
fn contract_of(output: &ReturnType) -> Option<Path> {
    let ReturnType::Type(_, ty) = output else {
        return None;
    };
    let Type::Reference(reference) = peel(ty) else {
        return None;
    };
    let Type::ImplTrait(TypeImplTrait { bounds, .. }) = peel(&reference.elem) else {
        return None;
    };
    only_trait(bounds).filter(|_| reference.mutability.is_none())
}

fn only_trait(bounds: &Punctuated<TypeParamBound, Token![+]>) -> Option<Path> {
    match (bounds.first(), bounds.len()) {
        (Some(TypeParamBound::Trait(bound)), 1) => Some(bound.path.clone()),
        _ => None,
    }
}

/// The members of a trait that are not methods.
pub(crate) fn other_members(item: &Trait) -> impl Iterator<Item = TokenStream> {
    item.members.iter().filter_map(|member| match member {
        Member::Other(other) => Some(other.to_token_stream()),
        Member::Method(_) | Member::Ours(_) => None,
    })
}
