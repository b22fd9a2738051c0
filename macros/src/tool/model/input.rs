//! Models of the parameters of a function, and of names.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::{
    Attribute, Expr, ExprPath, ExprRange, FnArg, Ident, LitStr, Pat, PatType, Type, TypeReference,
};

use crate::args::{Attr, Keys};
use crate::diag::Sink;
use crate::docs;
use crate::signature::peel;

use super::extract;

/// A parameter of the function other than `self`.
#[allow(clippy::large_enum_variant, reason = "a few live for one expansion")]
pub(crate) enum Input {
    Call(CallInput),
    Argument(Argument),
}

/// A borrowed parameter, which is not an argument but the context of the call.
pub(crate) struct CallInput {
    /// Its type, such as `&Context`.
    pub(crate) ty: TypeReference,
    /// An `#[arg]`, which is not allowed on such a parameter.
    pub(crate) arg: Option<Attribute>,
}

/// A parameter that the caller passes.
pub(crate) struct Argument {
    /// Empty when the parameter is a pattern and has no `#[arg(name = "…")]`.
    pub(crate) name: Name,
    pub(crate) ty: Type,
    pub(crate) description: Option<TokenStream>,
    pub(crate) default: Option<Attr<Option<Expr>>>,
    pub(crate) range: Option<Attr<ExprRange>>,
    pub(crate) length: Option<Attr<ExprRange>>,
    /// Name of the HTTP header that mirrors the value, without the prefix `Mcp-Param-`.
    pub(crate) header: Option<Attr<LitStr>>,
    /// Path of the function that proposes values.
    pub(crate) complete: Option<ExprPath>,
    /// True if the fields of the value are arguments, in place of the value itself.
    pub(crate) flatten: Option<Attr<bool>>,
}

impl Argument {
    /// Returns `true` if the fields of the value are arguments.
    pub(crate) fn is_flattened(&self) -> bool {
        self.flatten.as_ref().is_some_and(|flatten| flatten.value)
    }
}

/// A name in the protocol, and the tokens that the user wrote for it.
pub(crate) struct Name {
    pub(crate) text: String,
    pub(crate) tokens: TokenStream,
    /// `true` for `name = "…"`, `false` for a Rust identifier.
    pub(crate) given: bool,
}

impl Name {
    /// Uses the explicit name if there is one, or else the identifier, if the pattern is one.
    pub(crate) fn new(given: Option<LitStr>, ident: Option<&Ident>, or: &impl ToTokens) -> Self {
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

/// Returns `true` for a path `Self::name` or `<Self as Trait>::name`, which is called with `&self`.
pub(crate) fn is_method(path: &ExprPath) -> bool {
    if let Some(of) = &path.qself {
        return matches!(peel(&of.ty), Type::Path(of) if of.path.is_ident("Self"));
    }
    let first = path.path.segments.first();
    first.is_some_and(|first| first.ident == "Self")
}

/// Reads one parameter and the `keys` of its `#[arg]`. Returns `None` for `self`.
pub(super) fn input(
    param: &mut FnArg,
    noun: &str,
    keys: &[&str],
    sink: &mut Sink,
) -> Option<Input> {
    match param {
        FnArg::Receiver(receiver) => {
            reject_others(&mut receiver.attrs, noun, sink);
            None
        }
        FnArg::Typed(param) => Some(typed_input(param, noun, keys, sink)),
    }
}

fn typed_input(param: &mut PatType, noun: &str, keys: &[&str], sink: &mut Sink) -> Input {
    let docs = extract(&mut param.attrs, docs::is_doc);
    let args = extract(&mut param.attrs, |attribute| {
        attribute.path().is_ident("arg")
    });
    reject_others(&mut param.attrs, noun, sink);
    if let Type::Reference(reference) = peel(&param.ty) {
        return Input::Call(CallInput {
            ty: reference.clone(),
            arg: args.first().cloned(),
        });
    }
    let mut keys = Keys::of(&args, keys, sink);
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
        header: keys.string_attr("header", sink),
        complete: keys.function("complete", sink),
        flatten: keys.flag("flatten", sink),
    })
}

/// Reports and removes all attributes on a parameter except lint levels.
fn reject_others(attributes: &mut Vec<Attribute>, noun: &str, sink: &mut Sink) {
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
            "cfg" | "cfg_attr" => {
                format!(
                    "`{name}` on a parameter of a {noun}; write two functions with a `cfg` each"
                )
            }
            "arg" => "`#[arg]` on `self`; remove it".into(),
            _ => format!("`{name}` on a parameter of a {noun}; write `#[arg(…)]` or remove it"),
        };
        sink.error(attribute.path(), message);
    }
}
