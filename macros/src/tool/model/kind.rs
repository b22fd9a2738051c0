//! Kinds of features, with the keys that each accepts.

use syn::{Expr, LitStr};

use crate::args::{Attr, Keys};
use crate::diag::Sink;
use crate::tool::model::tool::Tool;
use crate::tool::model::uri::Uri;

/// The keys of a tool, on functions and methods.
pub(crate) const TOOL_KEYS: [&str; 16] = [
    "name",
    "title",
    "scope",
    "read_only",
    "destructive",
    "idempotent",
    "open_world",
    "icons",
    "meta",
    "schema",
    "blocking",
    "stream",
    "fold",
    "timeout",
    "max_concurrency",
    "task",
];

pub(super) const PROMPT_KEYS: [&str; 6] = ["name", "title", "scope", "icons", "meta", "blocking"];

pub(super) const RESOURCE_KEYS: [&str; 10] = [
    "name",
    "title",
    "scope",
    "mime_type",
    "size",
    "annotations",
    "subscribable",
    "icons",
    "meta",
    "blocking",
];

/// Kind of a feature, with the keys that only this kind has.
pub(crate) enum Kind {
    Tool(Box<Tool>),
    Prompt,
    Resource(Box<Resource>),
}

/// Keys that only resources have.
pub(crate) struct Resource {
    /// `None` after an error that has been reported.
    pub(crate) uri: Option<Uri>,
    pub(crate) mime_type: Option<LitStr>,
    pub(crate) size: Option<Expr>,
    pub(crate) annotations: Option<Expr>,
    /// `true` if clients can subscribe to its changes.
    pub(crate) subscribable: Option<Attr<bool>>,
}

impl Kind {
    /// The noun for error messages.
    pub(crate) fn noun(&self) -> &'static str {
        match self {
            Self::Tool(_) => "tool",
            Self::Prompt => "prompt",
            Self::Resource(_) => "resource",
        }
    }

    pub(crate) fn tool(keys: &mut Keys, sink: &mut Sink) -> Self {
        Self::Tool(Box::new(Tool::read(keys, sink)))
    }

    pub(super) fn resource(uri: Option<LitStr>, keys: &mut Keys, sink: &mut Sink) -> Self {
        Self::Resource(Box::new(Resource {
            uri: uri.and_then(|literal| Uri::read(literal, sink)),
            mime_type: keys.string("mime_type", sink),
            size: keys.expr("size", sink),
            annotations: keys.expr("annotations", sink),
            subscribable: keys.flag("subscribable", sink),
        }))
    }

    /// The keys of `#[arg]`. A variable of a URI is always present, so it has no default.
    pub(super) fn argument_keys(&self) -> &'static [&'static str] {
        match self {
            Self::Tool(_) => &["name", "default", "range", "length", "header", "flatten"],
            Self::Prompt => &["name", "default", "range", "length", "complete"],
            Self::Resource(_) => &["name", "range", "length", "complete"],
        }
    }
}
