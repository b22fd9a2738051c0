//! Rules for the names of tools, prompts, resources, namespaces and arguments.

use quote::quote;
use syn::parse::Parser;
use syn::{Ident, LitStr, Pat, Path};

use crate::diag::Sink;
use crate::tool::model::{Argument, Feature, Kind, Name};

/// Maximum number of characters in a tool name, as the protocol recommends.
const MAX_NAME_LENGTH: usize = 128;

/// A namespace follows the syntax of a tool name.
pub(crate) fn legal_namespace(namespace: Option<&LitStr>, sink: &mut Sink) {
    if let Some(namespace) = namespace {
        if let Some(name_error) = name_error(&namespace.value()) {
            sink.error(namespace, format!("illegal namespace: {name_error}"));
        }
    }
}

/// The name of a part of a contract follows the syntax of a tool name.
pub(crate) fn legal_part(name: &Name, sink: &mut Sink) {
    if let Some(name_error) = name_error(&name.text) {
        sink.error(&name.tokens, format!("illegal namespace: {name_error}"));
    }
}

/// A name has 1 to 128 characters, including its namespace, from the set that the protocol allows, and no empty segment
/// between its dots.
pub(crate) fn legal_name(feature: &Feature, namespace: &str, sink: &mut Sink) {
    let noun = feature.kind.noun();
    let Name {
        text,
        tokens,
        given,
    } = &feature.name;
    if let Some(name_error) = name_error(text) {
        let advice = if *given {
            ""
        } else {
            ", or give a name with `name = \"…\"`"
        };
        sink.error(
            tokens,
            format!("illegal {noun} name `{text}`: {name_error}{advice}"),
        );
        return;
    }
    let length = namespace.len() + text.len();
    if length > MAX_NAME_LENGTH {
        sink.error(
            tokens,
            format!(
                "{noun} name of {length} characters with its namespace; the maximum is {MAX_NAME_LENGTH}"
            ),
        );
    }
}

/// Names of the primitive types.
const PRIMITIVES: [&str; 17] = [
    "bool", "char", "f32", "f64", "i128", "i16", "i32", "i64", "i8", "isize", "str", "u128", "u16",
    "u32", "u64", "u8", "usize",
];

/// Returns `true` for the name of a primitive type.
pub(crate) fn is_primitive(name: &Ident) -> bool {
    PRIMITIVES.iter().any(|primitive| name == primitive)
}

/// A free function does not have the name of a primitive type, which the type beside it would hide.
pub(super) fn not_primitive(tool: &Feature, sink: &mut Sink) {
    let ident = &tool.signature.ident;
    if is_primitive(ident) {
        let message = format!(
            "the tool would hide the type `{ident}`; rename the function, and write `name = \"{ident}\"`"
        );
        sink.error(ident, message);
    }
}

/// Returns a description of the error in an invalid dotted name.
fn name_error(name: &str) -> Option<String> {
    let legal = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if let Some(c) = name.chars().find(|c| !legal(c)) {
        return Some(format!(
            "{c:?} is not allowed; use A-Z, a-z, 0-9, `_`, `-` and `.`"
        ));
    }
    let empty = name.split('.').any(str::is_empty);
    empty.then(|| "it has an empty segment; write at least one character between dots".to_owned())
}

/// The names of the tools in a block are distinct, and so are those of the prompts. Resources are identified by their URIs.
///
/// Duplicate Rust names are left to rustc, which reports them itself.
pub(crate) fn distinct_names(features: &[&Feature], place: &str, sink: &mut Sink) {
    for (index, feature) in features.iter().enumerate() {
        let clash = features[..index].iter().any(|earlier| {
            let same_kind = match feature.kind {
                Kind::Tool(_) => matches!(earlier.kind, Kind::Tool(_)),
                Kind::Prompt => matches!(earlier.kind, Kind::Prompt),
                Kind::Resource(_) => false,
            };
            same_kind
                && earlier.name.text == feature.name.text
                && earlier.signature.ident != feature.signature.ident
                && !exclusive(earlier, feature)
        });
        if clash {
            let (noun, name) = (feature.kind.noun(), &feature.name.text);
            sink.error(
                &feature.name.tokens,
                format!(
                    "another {noun} in this {place} is named `{name}`; write `name = \"…\"` on one"
                ),
            );
        }
    }
}

/// Returns `true` if two functions are under different `cfg`s, which are assumed to be mutually exclusive.
pub(super) fn exclusive(one: &Feature, other: &Feature) -> bool {
    let cfg = |feature: &Feature| {
        let cfg = &feature.cfg;
        quote!(#(#cfg)*).to_string()
    };
    !one.cfg.is_empty() && !other.cfg.is_empty() && cfg(one) != cfg(other)
}

/// The names of the arguments are distinct. Duplicate Rust names are left to rustc.
pub(super) fn distinct_arguments(feature: &Feature, sink: &mut Sink) {
    let named = || feature.arguments().filter(|it| !it.is_flattened());
    for (index, Argument { name, .. }) in named().enumerate() {
        let mut earlier = named().take(index).map(|argument| &argument.name);
        if earlier.any(|other| other.text == name.text && (other.given || name.given)) {
            let text = &name.text;
            sink.error(
                &name.tokens,
                format!("another argument is named `{text}`; rename one"),
            );
        }
    }
}

/// Each argument has a name, unless it is flattened. Users of `rmcp` write the pattern `Parameters(…)`.
pub(super) fn named_argument(argument: &Argument, kind: &Kind, sink: &mut Sink) {
    let Name { text, tokens, .. } = &argument.name;
    if !text.is_empty() || argument.is_flattened() {
        return;
    }
    let pattern = Pat::parse_single.parse2(tokens.clone());
    let is_tool = matches!(kind, Kind::Tool(_));
    let message = match &pattern {
        Ok(Pat::TupleStruct(pattern)) if is_parameters(&pattern.path) && is_tool => {
            "no wrapper is needed; write each argument as a parameter, or the struct as \
             `#[arg(flatten)] args: T`"
        }
        Ok(Pat::TupleStruct(pattern)) if is_parameters(&pattern.path) => {
            "no wrapper is needed; write each argument as a parameter"
        }
        Ok(Pat::Struct(_)) if is_tool => {
            "an argument needs a name; write one name here, or `#[arg(name = \"…\")]` before it; \
             `#[arg(flatten)]` makes its fields arguments"
        }
        _ => "an argument needs a name; write one name here, or `#[arg(name = \"…\")]` before it",
    };
    sink.error(tokens, message);
}

/// Returns `true` for a path to the wrapper of `rmcp`.
fn is_parameters(path: &Path) -> bool {
    let last = path.segments.last();
    last.is_some_and(|last| last.ident == "Parameters")
}
