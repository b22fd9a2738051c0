//! The rules for the names of tools, namespaces and arguments.

use quote::quote;

use crate::diag::Sink;
use crate::tool::model::{Argument, Block, Name, Tool};

/// The most characters that the protocol wants in a tool's name.
const LONGEST_NAME: usize = 128;

/// A namespace is made like a tool's name.
pub(super) fn legal_namespace(block: &Block, sink: &mut Sink) {
    if let Some(namespace) = &block.namespace {
        if let Some(fault) = fault(&namespace.value()) {
            sink.error(namespace, format!("illegal namespace: {fault}"));
        }
    }
}

/// A tool's name has 1 to 128 characters with its namespace, of those that the protocol allows,
/// and no empty segment between its dots.
pub(super) fn legal_name(name: &Name, namespace: &str, sink: &mut Sink) {
    let Name {
        text,
        tokens,
        given,
    } = name;
    if let Some(fault) = fault(text) {
        let advice = if *given {
            ""
        } else {
            ", or give a name with `name = \"…\"`"
        };
        sink.error(
            tokens,
            format!("illegal tool name `{text}`: {fault}{advice}"),
        );
        return;
    }
    let length = namespace.len() + text.len();
    if length > LONGEST_NAME {
        sink.error(
            tokens,
            format!(
                "tool name of {length} characters with its namespace; {LONGEST_NAME} is the most"
            ),
        );
    }
}

/// What is wrong with a name that has dots in it.
fn fault(name: &str) -> Option<String> {
    let legal = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if let Some(c) = name.chars().find(|c| !legal(c)) {
        return Some(format!(
            "{c:?} is not allowed; use A-Z, a-z, 0-9, `_`, `-` and `.`"
        ));
    }
    let empty = name.split('.').any(str::is_empty);
    empty.then(|| "it has an empty part; write at least one character between dots".to_owned())
}

/// No two tools of a block have the same name.
///
/// Functions under different `cfg`s may share one, as they exclude each other. Two functions of
/// the same Rust name are left to rustc, which reports them too.
pub(super) fn distinct_tools(tools: &[Tool], sink: &mut Sink) {
    let cfg = |tool: &Tool| {
        let cfg = &tool.cfg;
        quote!(#(#cfg)*).to_string()
    };
    for (index, tool) in tools.iter().enumerate() {
        let clash = tools[..index].iter().any(|earlier| {
            let exclusive =
                !earlier.cfg.is_empty() && !tool.cfg.is_empty() && cfg(earlier) != cfg(tool);
            earlier.name.text == tool.name.text
                && earlier.signature.ident != tool.signature.ident
                && !exclusive
        });
        if clash {
            let name = &tool.name.text;
            sink.error(
                &tool.name.tokens,
                format!(
                    "another tool in this block is named `{name}`; write `name = \"…\"` on one"
                ),
            );
        }
    }
}

/// No two arguments have the same name. Two parameters of one Rust name are left to rustc.
pub(super) fn distinct_arguments(tool: &Tool, sink: &mut Sink) {
    for (index, Argument { name, .. }) in tool.arguments().enumerate() {
        let mut earlier = tool.arguments().take(index).map(|argument| &argument.name);
        if earlier.any(|other| other.text == name.text && (other.given || name.given)) {
            let text = &name.text;
            sink.error(
                &name.tokens,
                format!("another argument is named `{text}`; rename one"),
            );
        }
    }
}

/// Each argument has a name.
pub(super) fn named_argument(argument: &Argument, sink: &mut Sink) {
    let Name { text, tokens, .. } = &argument.name;
    if text.is_empty() {
        sink.error(
            tokens,
            "an argument needs a name; write one name here, or `#[arg(name = \"…\")]` before it",
        );
    }
}
