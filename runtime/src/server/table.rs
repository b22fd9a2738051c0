//! Tables of what a server offers: which tool or prompt a name means, and which one was probably meant.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use serde::Serialize;
use treenail_schema::{Prompt, Resource, ResourceTemplate, Tool};

use crate::definition::{Bound, Completers};
use crate::name::{flaw, nearest};
use crate::respond::Handler;
use crate::revision::Style;
use crate::wire::{RpcError, quoted};

/// What peers see of something that a server offers.
pub(crate) trait Descriptor: Serialize + Clone {
    /// What it is, in a word.
    const KIND: &'static str;
    /// The member of the result that lists it.
    const MEMBER: &'static str;
    /// What tells one from another.
    const KEY: &'static str = "name";

    fn key(&self) -> &str;

    fn name_mut(&mut self) -> &mut String;

    /// As a peer may be told of it.
    fn speak(&self, _: &Style) -> Cow<'_, Self> {
        Cow::Borrowed(self)
    }
}

impl Descriptor for Tool {
    const KIND: &'static str = "tool";
    const MEMBER: &'static str = "tools";

    fn key(&self) -> &str {
        &self.name
    }

    fn name_mut(&mut self) -> &mut String {
        &mut self.name
    }

    fn speak(&self, style: &Style) -> Cow<'_, Self> {
        Cow::Owned(style.tool(self))
    }
}

impl Descriptor for Prompt {
    const KIND: &'static str = "prompt";
    const MEMBER: &'static str = "prompts";

    fn key(&self) -> &str {
        &self.name
    }

    fn name_mut(&mut self) -> &mut String {
        &mut self.name
    }
}

impl Descriptor for Resource {
    const KIND: &'static str = "resource";
    const MEMBER: &'static str = "resources";
    const KEY: &'static str = "URI";

    fn key(&self) -> &str {
        &self.uri
    }

    fn name_mut(&mut self) -> &mut String {
        &mut self.name
    }
}

impl Descriptor for ResourceTemplate {
    const KIND: &'static str = "template";
    const MEMBER: &'static str = "resourceTemplates";
    const KEY: &'static str = "URI";

    fn key(&self) -> &str {
        &self.uri_template
    }

    fn name_mut(&mut self) -> &mut String {
        &mut self.name
    }
}

/// What peers see, and what answers their requests for it.
pub(crate) struct Entry<D> {
    pub(crate) descriptor: D,
    pub(crate) handler: Handler,
    pub(crate) completers: Completers,
}

impl<D: fmt::Debug> fmt::Debug for Entry<D> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Entry")
            .field("descriptor", &self.descriptor)
            .finish_non_exhaustive()
    }
}

/// All of one kind that a server offers, in the order in which they were added.
#[derive(Debug)]
pub(crate) struct Table<D> {
    entries: Vec<Entry<D>>,
    /// Where each key, as peers write it, stands in `entries`.
    by_key: HashMap<Box<str>, usize>,
    separator: Box<str>,
}

impl<D: Descriptor> Table<D> {
    /// Names them as peers will see them, and refuses two of one key.
    pub(crate) fn new(bound: Vec<Bound<D>>, separator: Option<&str>) -> Result<Self, String> {
        let mut by_key = HashMap::with_capacity(bound.len());
        let mut entries = Vec::with_capacity(bound.len());
        for (index, mut bound) in bound.into_iter().enumerate() {
            if let Some(separator) = separator {
                separate(D::KIND, bound.descriptor.name_mut(), separator)?;
            }
            let (descriptor, handler, completers) = bound.finish();
            let key = descriptor.key();
            if by_key.insert(key.into(), index).is_some() {
                return Err(twice::<D>(key));
            }
            entries.push(Entry {
                descriptor,
                handler,
                completers,
            });
        }
        Ok(Self {
            entries,
            by_key,
            separator: separator.unwrap_or(".").into(),
        })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(crate) fn entries(&self) -> &[Entry<D>] {
        &self.entries
    }

    /// Whether something proposes values for arguments.
    pub(crate) fn completes(&self) -> bool {
        self.entries
            .iter()
            .any(|entry| !entry.completers.is_empty())
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Entry<D>> {
        self.by_key.get(key).map(|index| &self.entries[*index])
    }

    /// All keys, in order.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| entry.descriptor.key())
    }

    /// The one that a peer calls `name`.
    pub(crate) fn named(&self, name: &str) -> Result<&Entry<D>, RpcError> {
        self.get(name).ok_or_else(|| self.unknown(name))
    }

    /// Says what is wrong with a name that none has: its form, its namespace, or the rest.
    #[cold]
    fn unknown(&self, name: &str) -> RpcError {
        let (kind, asked) = (D::KIND, quoted(name));
        if let Some(flaw) = flaw(name) {
            return self.suggest(name, format!("the {kind} name {asked} {flaw}"));
        }
        let has = |namespace: &str| self.namespaces().any(|known| known == namespace);
        match self.split(name) {
            (None, method) if has(method) => RpcError::invalid_params(format!(
                "{asked} is a namespace, not a {kind}; see `{}/list`",
                D::MEMBER
            )),
            (Some(namespace), method) if has(namespace) => {
                let (namespace, method) = (quoted(namespace), quoted(method));
                self.suggest(
                    name,
                    format!("unknown {kind} {asked}: namespace {namespace} has no {method}"),
                )
            }
            (Some(namespace), _) => {
                let namespace = quoted(namespace);
                self.suggest(
                    name,
                    format!("unknown {kind} {asked}: there is no namespace {namespace}"),
                )
            }
            (None, _) => self.suggest(name, format!("unknown {kind} {asked}")),
        }
    }

    /// An error with the name that was probably meant.
    fn suggest(&self, name: &str, message: String) -> RpcError {
        match nearest(name, self.keys()) {
            Some(known) => RpcError::invalid_params(format!("{message}; did you mean `{known}`?")),
            None => RpcError::invalid_params(message),
        }
    }

    /// The namespace of a name, and its method.
    fn split<'a>(&self, name: &'a str) -> (Option<&'a str>, &'a str) {
        match name.rsplit_once(&*self.separator) {
            Some((namespace, method)) => (Some(namespace), method),
            None => (None, name),
        }
    }

    fn namespaces(&self) -> impl Iterator<Item = &str> {
        self.keys().filter_map(|name| self.split(name).0)
    }
}

/// Writes `separator` for the dots in `name`.
fn separate(kind: &str, name: &mut String, separator: &str) -> Result<(), String> {
    if name.contains(separator) {
        return Err(format!(
            "the {kind} name `{name}` has the separator `{separator}` in it already; choose another one"
        ));
    }
    let separated = name.replace('.', separator);
    if let Some(flaw) = flaw(&separated) {
        return Err(format!(
            "with the separator `{separator}`, the {kind} name `{separated}` {flaw}"
        ));
    }
    *name = separated;
    Ok(())
}

#[cold]
fn twice<D: Descriptor>(key: &str) -> String {
    let (kind, what) = (D::KIND, D::KEY);
    let advice = match what {
        "name" => "; give one of them `name = \"…\"` or a namespace",
        _ => "",
    };
    format!("two {kind}s have the {what} `{key}`{advice}")
}
