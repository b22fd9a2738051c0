//! Tables of what a server offers: which tool or prompt a name means, and which one was probably meant.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use treenail_schema::{Prompt, Resource, ResourceTemplate, Tool};

use crate::definition::Entry;
use crate::naming::{nearest, validate_name};
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

/// Those of one kind that a server offers now, in the order in which they were added.
pub(crate) struct Table<D, X = ()> {
    entries: Vec<Arc<Entry<D, X>>>,
    /// Each key, as peers write it, and where it stands in `entries`. It is sorted: for a few keys that is faster than a
    /// hash table, and no keys can be chosen that make it slow.
    by_key: Vec<(Box<str>, usize)>,
    /// The same for what hosts may make of names, see [`safe_forms`].
    by_safe_form: HashMap<Box<str>, usize>,
    separator: Box<str>,
}

impl<D: fmt::Debug, X> fmt::Debug for Table<D, X> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(&self.entries).finish()
    }
}

impl<D: Descriptor, X> Table<D, X> {
    /// No two of `entries` have one key; names have `separator` in them already.
    pub(crate) fn new(entries: Vec<Arc<Entry<D, X>>>, separator: Option<&str>) -> Self {
        let key =
            |(index, entry): (usize, &Arc<Entry<D, X>>)| (entry.descriptor.key().into(), index);
        let mut by_key: Vec<_> = entries.iter().enumerate().map(key).collect();
        by_key.sort_unstable();
        Self {
            by_safe_form: safe_forms(&by_key, D::KIND),
            by_key,
            entries,
            separator: separator.unwrap_or(".").into(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(crate) fn entries(&self) -> &[Arc<Entry<D, X>>] {
        &self.entries
    }

    /// Whether something proposes values for arguments.
    pub(crate) fn completes(&self) -> bool {
        self.entries
            .iter()
            .any(|entry| !entry.completers.is_empty())
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Entry<D, X>> {
        self.position(key).map(|index| &*self.entries[index])
    }

    /// Where the one with this key stands.
    pub(crate) fn position(&self, key: &str) -> Option<usize> {
        position(&self.by_key, key)
    }

    /// All keys, in order.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| entry.descriptor.key())
    }

    /// The one that a peer calls `name`.
    pub(crate) fn named(&self, name: &str) -> Result<&Entry<D, X>, RpcError> {
        match self.get(name) {
            Some(entry) => Ok(entry),
            None => self.named_safely(name).ok_or_else(|| self.unknown(name)),
        }
    }

    /// The one that a host without dots in names calls `name`.
    #[cold]
    pub(crate) fn named_safely(&self, name: &str) -> Option<&Entry<D, X>> {
        let position = self.by_safe_form.get(name).copied();
        position.map(|index| &*self.entries[index])
    }

    /// Says what is wrong with a name that none has: its form, its namespace, or the rest.
    #[cold]
    fn unknown(&self, name: &str) -> RpcError {
        let (kind, asked) = (D::KIND, quoted(name));
        if let Err(problem) = validate_name(name) {
            return self.suggest(name, format!("the {kind} name {asked} {problem}"));
        }
        if self.has_namespace(name) {
            return RpcError::invalid_params(format!(
                "{asked} is a namespace, not a {kind}; see `{}/list`",
                D::MEMBER
            ));
        }
        let unknown = format!("unknown {kind} {asked}");
        let message = match name.rsplit_once(&*self.separator) {
            Some((namespace, method)) if self.has_namespace(namespace) => {
                let (namespace, method) = (quoted(namespace), quoted(method));
                format!("{unknown}: namespace {namespace} has no {method}")
            }
            Some((namespace, _)) => {
                format!("{unknown}: there is no namespace {}", quoted(namespace))
            }
            None => unknown,
        };
        self.suggest(name, message)
    }

    /// An error with the name that was probably meant.
    fn suggest(&self, name: &str, message: String) -> RpcError {
        match nearest(name, self.keys()) {
            Some(known) => RpcError::invalid_params(format!("{message}; did you mean `{known}`?")),
            None => RpcError::invalid_params(message),
        }
    }

    /// Whether names begin with `namespace`: it, or one that is nested in it, has something.
    fn has_namespace(&self, namespace: &str) -> bool {
        self.keys().any(|name| {
            name.strip_prefix(namespace)
                .is_some_and(|rest| rest.starts_with(&*self.separator))
        })
    }
}

/// Where `key` stands, according to keys that are sorted.
fn position(by_key: &[(Box<str>, usize)], key: &str) -> Option<usize> {
    let found = by_key.binary_search_by(|(known, _)| (**known).cmp(key));
    found.ok().map(|at| by_key[at].1)
}

/// What hosts may make of names of tools, for interfaces of models that refuse dots: `_` or `__` for each dot. A form that
/// could mean two of them, or that is another's name, is left out.
fn safe_forms(by_key: &[(Box<str>, usize)], kind: &str) -> HashMap<Box<str>, usize> {
    let mut forms: HashMap<Box<str>, Option<usize>> = HashMap::new();
    let dotted = by_key.iter().filter(|(name, _)| name.contains('.'));
    for (name, index) in dotted.filter(|_| kind == Tool::KIND) {
        for stand_in in ["_", "__"] {
            let form = name.replace('.', stand_in).into_boxed_str();
            if position(by_key, &form).is_some() {
                continue;
            }
            let meant = forms.entry(form).or_insert(Some(*index));
            *meant = meant.filter(|meant| meant == index);
        }
    }
    let forms = forms.into_iter();
    forms
        .filter_map(|(form, index)| Some((form, index?)))
        .collect()
}

/// Writes `separator` for the dots in `name`.
pub(crate) fn separate(kind: &str, name: &mut String, separator: &str) -> Result<(), String> {
    if name.contains(separator) {
        return Err(format!(
            "the {kind} name `{name}` has the separator `{separator}` in it already; choose another one"
        ));
    }
    let separated = name.replace('.', separator);
    if let Err(problem) = validate_name(&separated) {
        return Err(format!(
            "with the separator `{separator}`, the {kind} name `{separated}` {problem}"
        ));
    }
    *name = separated;
    Ok(())
}
