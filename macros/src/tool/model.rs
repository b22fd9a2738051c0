//! What the macro has to know of a tool.
//!
//! Reading a function takes our own attributes off it: what stays is what rustc may see.

use std::mem;

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::ext::IdentExt;

use syn::{
    Attribute, Expr, ExprRange, FnArg, Ident, LitStr, Pat, PatType, ReturnType, Signature, Type,
    TypeReference, parse_quote,
};

use crate::args::{Given, Keys};
use crate::diag::Sink;
use crate::docs;
use crate::signature::{Function, borrow_in, keyword_in, peel};

use super::parse::ImplBlock;

/// The keys of a tool, on a function as on a method.
pub(crate) const TOOL_KEYS: [&str; 9] = [
    "name",
    "title",
    "read_only",
    "destructive",
    "idempotent",
    "open_world",
    "icons",
    "meta",
    "blocking",
];

const ARGUMENT_KEYS: [&str; 4] = ["name", "default", "range", "length"];

const HINTS: [&str; 4] = ["read_only", "destructive", "idempotent", "open_world"];

/// An `impl` block with tools.
pub(crate) struct Block {
    pub(crate) namespace: Option<LitStr>,
    pub(crate) instructions: Option<TokenStream>,
    pub(crate) tools: Vec<Tool>,
}

/// A function that becomes a tool.
pub(crate) struct Tool {
    pub(crate) name: Name,
    pub(crate) title: Option<LitStr>,
    pub(crate) description: Option<TokenStream>,
    pub(crate) hints: Vec<Hint>,
    pub(crate) icons: Option<Expr>,
    pub(crate) meta: Option<Expr>,
    pub(crate) blocking: Option<Given<bool>>,
    pub(crate) inputs: Vec<Input>,
    pub(crate) output: Output,
    pub(crate) signature: Signature,
    /// The `cfg` attributes, which decide about the generated code too.
    pub(crate) cfg: Vec<Attribute>,
    pub(crate) deprecated: Option<Attribute>,
}

/// A name in the protocol, and the tokens that the user wrote for it.
pub(crate) struct Name {
    pub(crate) text: String,
    pub(crate) tokens: TokenStream,
    /// Whether it was given as `name = "…"`, and not as a Rust identifier.
    pub(crate) given: bool,
}

/// Something that a tool says of itself, like `read_only`.
pub(crate) struct Hint {
    pub(crate) name: &'static str,
    pub(crate) given: Given<bool>,
}

/// A parameter of the function other than `self`.
#[allow(clippy::large_enum_variant, reason = "a few live for one expansion")]
pub(crate) enum Input {
    Call(CallInput),
    Argument(Argument),
}

/// A borrowed parameter, which is not an argument but comes from the call.
pub(crate) struct CallInput {
    /// Its type, such as `&Context`.
    pub(crate) ty: TypeReference,
    /// An `#[arg]`, which has no business there.
    pub(crate) arg: Option<Attribute>,
}

/// A parameter that the caller of the tool has to give.
pub(crate) struct Argument {
    /// Empty when the parameter is a pattern and has no `#[arg(name = "…")]`.
    pub(crate) name: Name,
    pub(crate) ty: Type,
    pub(crate) description: Option<TokenStream>,
    pub(crate) default: Option<Given<Option<Expr>>>,
    pub(crate) range: Option<Given<ExprRange>>,
    pub(crate) length: Option<Given<ExprRange>>,
}

/// What the function returns, as far as its type is written out.
pub(crate) enum Output {
    Unit,
    Named(Type),
    /// A type with `impl Trait` in it, which has no name.
    Opaque(Type),
    /// What is borrowed: `str` in `&str`.
    Borrowed(Type),
}

impl Block {
    /// Reads the methods of `item` that are marked `#[tool]`.
    pub(crate) fn read(item: &mut ImplBlock, keys: &mut Keys, sink: &mut Sink) -> Self {
        let namespace = keys.string("namespace", sink);
        let instructions = docs::text(&item.attributes);
        let mut tools = Vec::new();
        for function in item.functions() {
            let marks = extract(&mut function.attributes, |mark| {
                mark.path().is_ident("tool")
            });
            if !marks.is_empty() {
                let mut keys = Keys::of(&marks, &TOOL_KEYS, sink);
                tools.push(Tool::read(function, &mut keys, sink));
            }
        }
        Self {
            namespace,
            instructions,
            tools,
        }
    }
}

impl Tool {
    /// Reads a function that has the keys of a tool.
    pub(crate) fn read(function: &mut Function, keys: &mut Keys, sink: &mut Sink) -> Self {
        let signature = &mut function.signature;
        let inputs = signature.inputs.iter_mut();
        let inputs = inputs.filter_map(|param| input(param, sink)).collect();
        let ident = &signature.ident;
        let find = |name| {
            function
                .attributes
                .iter()
                .filter(move |a| a.path().is_ident(name))
        };
        let hint = |name| keys.flag(name, sink).map(|given| Hint { name, given });
        let tool = Self {
            hints: HINTS.into_iter().filter_map(hint).collect(),
            name: Name::new(keys.string("name", sink), Some(ident), ident),
            title: keys.string("title", sink),
            icons: keys.expr("icons", sink),
            meta: keys.expr("meta", sink),
            blocking: keys.flag("blocking", sink),
            description: docs::text(&function.attributes),
            output: output(&signature.output),
            signature: signature.clone(),
            cfg: find("cfg").cloned().collect(),
            deprecated: find("deprecated").next().cloned(),
            inputs,
        };
        function.attributes.push(allow_shape());
        tool
    }

    /// The hint of this name, if the user gave it.
    pub(crate) fn hint(&self, name: &str) -> Option<&Given<bool>> {
        let mut hints = self.hints.iter();
        hints.find_map(|hint| (hint.name == name).then_some(&hint.given))
    }

    /// The parameters that the caller of the tool gives.
    pub(crate) fn arguments(&self) -> impl Iterator<Item = &Argument> {
        self.inputs.iter().filter_map(|input| match input {
            Input::Argument(argument) => Some(argument),
            Input::Call(_) => None,
        })
    }

    /// The parameters that come from the call.
    pub(crate) fn call_inputs(&self) -> impl Iterator<Item = &CallInput> {
        self.inputs.iter().filter_map(|input| match input {
            Input::Call(input) => Some(input),
            Input::Argument(_) => None,
        })
    }
}

impl Name {
    /// The name that was given, or else the identifier, if what the user wrote is one.
    fn new(given: Option<LitStr>, ident: Option<&Ident>, or: &impl ToTokens) -> Self {
        if let Some(literal) = given {
            return Self {
                text: literal.value(),
                tokens: literal.into_token_stream(),
                given: true,
            };
        }
        let ident = ident.map(|ident| ident.unraw().to_string());
        Self {
            text: ident.unwrap_or_default(),
            tokens: or.to_token_stream(),
            given: false,
        }
    }
}

/// Reads one parameter; `self` is none of the tool's inputs.
fn input(param: &mut FnArg, sink: &mut Sink) -> Option<Input> {
    match param {
        FnArg::Receiver(receiver) => {
            refuse_others(&mut receiver.attrs, sink);
            None
        }
        FnArg::Typed(param) => Some(typed_input(param, sink)),
    }
}

fn typed_input(param: &mut PatType, sink: &mut Sink) -> Input {
    let docs = extract(&mut param.attrs, docs::is_doc);
    let args = extract(&mut param.attrs, |attribute| {
        attribute.path().is_ident("arg")
    });
    refuse_others(&mut param.attrs, sink);
    if let Type::Reference(reference) = peel(&param.ty) {
        return Input::Call(CallInput {
            ty: reference.clone(),
            arg: args.first().cloned(),
        });
    }
    let mut keys = Keys::of(&args, &ARGUMENT_KEYS, sink);
    let ident = match &*param.pat {
        Pat::Ident(pat) => Some(&pat.ident),
        _ => None,
    };
    Input::Argument(Argument {
        name: Name::new(keys.string("name", sink), ident, &param.pat),
        ty: Type::clone(&param.ty),
        description: docs::text(&docs),
        default: keys.optional_expr("default"),
        range: keys.range("range", sink),
        length: keys.range("length", sink),
    })
}

/// Silences lints about the shape of a function that a tool has to have.
fn allow_shape() -> Attribute {
    parse_quote! {
        #[allow(
            clippy::needless_pass_by_value,
            clippy::unused_async,
            reason = "arguments are owned, and a tool may be asynchronous for its callers"
        )]
    }
}

/// Reports attributes on a parameter that cannot be meant for rustc, and takes them off.
fn refuse_others(attributes: &mut Vec<Attribute>, sink: &mut Sink) {
    let is_lint = |attribute: &Attribute| {
        let lints = ["allow", "expect", "warn", "deny", "forbid"];
        lints.iter().any(|lint| attribute.path().is_ident(lint))
    };
    for attribute in extract(attributes, |attribute| !is_lint(attribute)) {
        let name = attribute
            .path()
            .to_token_stream()
            .to_string()
            .replace(' ', "");
        let message = match &*name {
            "cfg" => "`cfg` on a parameter of a tool; write two functions with a `cfg` each".into(),
            "arg" => "`#[arg]` on `self`; remove it".into(),
            _ => format!("`{name}` on a parameter of a tool; write `#[arg(…)]` or remove it"),
        };
        sink.error(attribute.path(), message);
    }
}

/// Sorts the return type, by its syntax alone.
fn output(ty: &ReturnType) -> Output {
    let ReturnType::Type(_, ty) = ty else {
        return Output::Unit;
    };
    match peel(ty) {
        _ if keyword_in(ty.to_token_stream(), "impl").is_some() => Output::Opaque(Type::clone(ty)),
        Type::Reference(reference) if borrow_in(ty.to_token_stream()).is_some() => {
            Output::Borrowed(Type::clone(&reference.elem))
        }
        _ => Output::Named(Type::clone(ty)),
    }
}

/// Moves the attributes that `wanted` accepts out of `attributes`.
fn extract(attributes: &mut Vec<Attribute>, wanted: impl Fn(&Attribute) -> bool) -> Vec<Attribute> {
    let (wanted, others) = mem::take(attributes).into_iter().partition(wanted);
    *attributes = others;
    wanted
}
