//! Model of a contract.

mod part;

use std::mem;

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident};
use syn::{Attribute, FnArg, LitStr, Pat, Signature, Type};

use crate::args::Keys;
use crate::cfg_attr;
use crate::diag::Sink;
use crate::docs;
use crate::krate::Krate;
use crate::tool::model::{
    Argument, Feature, Input, Kind, TOOL_KEYS, extract, reject_conditional_marks, tool_marks,
};

pub(crate) use self::part::{Part, part_type, returned_part};
use super::parse::{Member, Method, Trait};

/// A trait whose methods are tools.
pub(crate) struct Contract {
    pub(crate) namespace: Option<LitStr>,
    pub(crate) instructions: Option<TokenStream>,
    pub(crate) methods: Vec<Entry>,
    /// Methods with mistakes in their types, for which there are no methods of the client and the mock.
    pub(crate) unsound: Vec<Entry>,
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
    /// True if its fields are sent in place of itself.
    pub(crate) is_flattened: bool,
}

impl Contract {
    pub(crate) fn read(item: &mut Trait, keys: &mut Keys, krate: &Krate, sink: &mut Sink) -> Self {
        let namespace = keys.string("namespace", sink);
        let instructions = docs::text(&item.attributes);
        let methods = item
            .methods()
            .map(|method| Entry::read(method, krate, sink));
        Self {
            namespace,
            instructions,
            methods: methods.collect(),
            unsound: Vec::new(),
        }
    }

    /// Moves the methods that are not sound out of [`methods`](Self::methods).
    pub(crate) fn set_aside(&mut self, is_sound: &[bool]) {
        let methods = mem::take(&mut self.methods).into_iter();
        for (entry, is_sound) in methods.zip(is_sound) {
            let list = if *is_sound {
                &mut self.methods
            } else {
                &mut self.unsound
            };
            list.push(entry);
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
    fn read(method: &mut Method, krate: &Krate, sink: &mut Sink) -> Self {
        let attributes = &mut method.function.attributes;
        reject_conditional_marks(attributes, krate, sink);
        let namespace = extract(attributes, |mark| mark.path().is_ident("namespace"));
        let mut marks = |names: [&str; 2]| {
            extract(attributes, |mark| {
                names.iter().any(|name| krate.is_mark(mark.path(), name))
            })
        };
        let mut others = marks(["prompt", "resource"]);
        if namespace.is_empty() {
            let message = "a method of a contract is a tool already; write `#[tool]` for its keys, or remove this";
            let tool = tool_marks(attributes, krate, message, sink);
            return Self::Tool(Tool::read(method, &tool, others, sink));
        }
        others.extend(marks(["tool", "mcp_tool"]));
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

    /// The attributes that apply to generated code with types of the method too.
    pub(crate) fn shared(&self) -> Vec<&Attribute> {
        match self {
            Self::Tool(tool) => tool.feature.shared(),
            Self::Part(part) => part.shared(),
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
            is_flattened: argument.is_flattened(),
        }
    }
}

/// The members of a trait that are not methods.
pub(crate) fn other_members(item: &Trait) -> impl Iterator<Item = TokenStream> {
    item.members.iter().filter_map(|member| match member {
        Member::Other(other) => Some(other.to_token_stream()),
        Member::Method(_) | Member::Ours(_) => None,
    })
}
