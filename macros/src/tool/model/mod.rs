//! Models of tools, prompts and resources.
//!
//! Reading a function removes our own attributes from it, because rustc does not know them.

mod input;
mod kind;
mod marks;
mod mode;
pub(crate) mod stream;
pub(crate) mod task;
mod tool;
pub(crate) mod uri;

use std::mem;

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{Attribute, Expr, LitStr, ReturnType, Signature, Type, parse_quote};

use crate::args::{Attr, Keys};
use crate::cfg_attr;
use crate::diag::Sink;
use crate::docs;
use crate::krate::Krate;
use crate::lints;
use crate::signature::{Function, borrow_in, keyword_in, peel};

use self::input::input;
pub(crate) use self::input::{Argument, CallInput, Input, Name, is_method};
pub(crate) use self::kind::{Kind, Resource, TOOL_KEYS};
use self::kind::{PROMPT_KEYS, RESOURCE_KEYS};
use self::marks::adopt_marks;
pub(crate) use self::marks::{reject_conditional_marks, tool_marks};
pub(crate) use self::mode::Mode;
use self::stream::Stream;
pub(crate) use self::tool::{Hint, Tool};
use super::parse::ImplBlock;

/// An `impl` block with tools, prompts or resources.
pub(crate) struct Block {
    pub(crate) namespace: Option<LitStr>,
    pub(crate) instructions: Option<TokenStream>,
    /// The scopes of functions that declare none.
    pub(crate) scope: Option<Expr>,
    pub(crate) features: Vec<Feature>,
}

/// A function that becomes a tool, a prompt or a resource.
pub(crate) struct Feature {
    pub(crate) kind: Kind,
    pub(crate) name: Name,
    pub(crate) title: Option<LitStr>,
    pub(crate) description: Option<TokenStream>,
    /// The scopes that calls need.
    pub(crate) scope: Option<Expr>,
    pub(crate) icons: Option<Expr>,
    pub(crate) meta: Option<Expr>,
    pub(crate) blocking: Option<Attr<bool>>,
    pub(crate) inputs: Vec<Input>,
    pub(crate) output: Output,
    /// The stream, if the output is one.
    pub(crate) stream: Option<Stream>,
    pub(crate) signature: Signature,
    pub(crate) cfg: Vec<Attribute>,
    pub(crate) lints: Vec<Attribute>,
    pub(crate) deprecated: Option<Attribute>,
}

/// Return type of a function, classified by its syntax.
pub(crate) enum Output {
    Unit,
    Named(Type),
    /// A type with `impl Trait` in it, which has no name.
    Opaque(Type),
    /// A reference; holds the target type: `str` in `&str`.
    Borrowed(Type),
}

impl Block {
    /// Reads the marked methods of `item`.
    pub(crate) fn read(
        item: &mut ImplBlock,
        keys: &mut Keys,
        krate: &Krate,
        sink: &mut Sink,
    ) -> Self {
        let namespace = keys.string("namespace", sink);
        let scope = keys.expr("scope", sink);
        let instructions = docs::text(&item.attributes);
        adopt_marks(item, krate, sink);
        let features = item
            .functions()
            .filter_map(|function| Feature::marked(function, krate, sink))
            .collect();
        Self {
            namespace,
            instructions,
            scope,
            features,
        }
    }
}

impl Feature {
    /// Reads a function that is marked `#[tool]`, `#[prompt]` or `#[resource("…")]`.
    fn marked(function: &mut Function, krate: &Krate, sink: &mut Sink) -> Option<Self> {
        reject_conditional_marks(&mut function.attributes, krate, sink);
        let message = "`#[mcp_tool]` is for the whole block; mark its methods with `#[tool]`";
        let tool = tool_marks(&mut function.attributes, krate, message, sink);
        let mut marks = |name| {
            extract(&mut function.attributes, |mark| {
                krate.is_mark(mark.path(), name)
            })
        };
        let (prompt, resource) = (marks("prompt"), marks("resource"));
        for second in resource.iter().skip(1) {
            sink.error(
                second.path(),
                "duplicate `#[resource]`; remove one, or write a second method for its URI",
            );
        }
        let firsts: Vec<_> = [&tool, &prompt, &resource]
            .into_iter()
            .filter_map(|marks| marks.first())
            .collect();
        for second in firsts.iter().skip(1) {
            sink.error(
                second.path(),
                "a method is a tool, a prompt or a resource; remove all of these attributes but one",
            );
        }
        let (mut keys, kind) = if !tool.is_empty() {
            let mut keys = Keys::of(&tool, &TOOL_KEYS, sink);
            let kind = Kind::tool(&mut keys, sink);
            (keys, kind)
        } else if !prompt.is_empty() {
            (Keys::of(&prompt, &PROMPT_KEYS, sink), Kind::Prompt)
        } else {
            let (uri, mut keys) = Keys::after_text(resource.first()?, &RESOURCE_KEYS, sink);
            let kind = Kind::resource(uri, &mut keys, sink);
            (keys, kind)
        };
        Some(Self::read(function, kind, &mut keys, sink))
    }

    /// Reads a function that has the keys of its kind.
    pub(crate) fn read(
        function: &mut Function,
        kind: Kind,
        keys: &mut Keys,
        sink: &mut Sink,
    ) -> Self {
        if let Some(semicolon) = &function.missing {
            let noun = kind.noun();
            sink.error(semicolon, format!("a {noun} needs a body; write `{{ … }}`"));
        }
        let signature = &mut function.signature;
        let (noun, known) = (kind.noun(), kind.argument_keys());
        let inputs = signature.inputs.iter_mut();
        let inputs = inputs
            .filter_map(|param| input(param, noun, known, sink))
            .collect();
        let ident = &signature.ident;
        let returned = match &signature.output {
            ReturnType::Default => None,
            ReturnType::Type(_, ty) => Some(&**ty),
        };
        let feature = Self {
            kind,
            name: Name::new(keys.string("name", sink), Some(ident), ident),
            title: keys.string("title", sink),
            scope: keys.expr("scope", sink),
            icons: keys.expr("icons", sink),
            meta: keys.expr("meta", sink),
            blocking: keys.flag("blocking", sink),
            description: docs::text(&function.attributes),
            output: returned.map_or(Output::Unit, output),
            stream: Stream::read(returned, keys, sink),
            signature: signature.clone(),
            cfg: cfg_attr::cfgs(&function.attributes),
            lints: lints::levels(&function.attributes),
            deprecated: cfg_attr::first(&function.attributes, "deprecated"),
            inputs,
        };
        function.attributes.push(allow_lints());
        feature
    }

    /// The attributes that apply to generated code with types of the function too.
    pub(crate) fn shared(&self) -> Vec<&Attribute> {
        self.cfg.iter().chain(&self.lints).collect()
    }

    /// The behaviour hints of a tool.
    pub(crate) fn hints(&self) -> &[Hint] {
        match &self.kind {
            Kind::Tool(tool) => &tool.hints,
            Kind::Prompt | Kind::Resource(_) => &[],
        }
    }

    /// The keys that only tools have, if this is one.
    pub(crate) fn tool(&self) -> Option<&Tool> {
        match &self.kind {
            Kind::Tool(tool) => Some(tool),
            Kind::Prompt | Kind::Resource(_) => None,
        }
    }

    /// The keys that only resources have, if this is one.
    pub(crate) fn resource(&self) -> Option<&Resource> {
        match &self.kind {
            Kind::Resource(resource) => Some(resource),
            Kind::Tool(_) | Kind::Prompt => None,
        }
    }

    /// The parameters that the caller passes.
    pub(crate) fn arguments(&self) -> impl Iterator<Item = &Argument> {
        self.inputs.iter().filter_map(|input| match input {
            Input::Argument(argument) => Some(argument),
            Input::Call(_) => None,
        })
    }

    /// The parameter whose fields are arguments.
    pub(crate) fn flattened(&self) -> Option<&Argument> {
        self.arguments().find(|argument| argument.is_flattened())
    }

    /// The parameters that borrow the context of the call.
    pub(crate) fn call_inputs(&self) -> impl Iterator<Item = &CallInput> {
        self.inputs.iter().filter_map(|input| match input {
            Input::Call(input) => Some(input),
            Input::Argument(_) => None,
        })
    }
}

/// Silences lints about signatures that tools require.
fn allow_lints() -> Attribute {
    parse_quote! {
        #[allow(
            clippy::needless_pass_by_value,
            clippy::unused_async,
            reason = "arguments are owned, and a tool may be asynchronous for its callers"
        )]
    }
}

/// Classifies the return type by its syntax alone.
fn output(ty: &Type) -> Output {
    match peel(ty) {
        _ if keyword_in(ty.to_token_stream(), "impl").is_some() => Output::Opaque(Type::clone(ty)),
        Type::Reference(reference) if borrow_in(ty.to_token_stream()).is_some() => {
            Output::Borrowed(Type::clone(&reference.elem))
        }
        _ => Output::Named(Type::clone(ty)),
    }
}

/// Moves the attributes that `wanted` accepts out of `attributes`.
pub(crate) fn extract(
    attributes: &mut Vec<Attribute>,
    wanted: impl Fn(&Attribute) -> bool,
) -> Vec<Attribute> {
    let (wanted, others) = mem::take(attributes).into_iter().partition(wanted);
    *attributes = others;
    wanted
}
