//! Index of the enabled entries of one kind: lookup by name, and suggestions for unknown names.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::entry::{Entry, EntryKind};
use crate::naming::{nearest, validate, validate_name};
use crate::server::absence::Absence;
use crate::wire::{RpcError, quoted};

/// Enabled entries of one kind, in the order in which they were added.
pub(crate) struct Index {
    kind: EntryKind,
    entries: Vec<Arc<Entry>>,
    /// The position of each key, as peers write it, in `entries`. The keys are sorted: a binary search in a few keys is faster
    /// than a hash table, and no choice of keys makes it slow.
    by_key: Vec<(Box<str>, usize)>,
    /// The position of each rewritten name, see [`safe_forms`]. Found out for the first name that is no key.
    by_safe_form: OnceLock<HashMap<Box<str>, usize>>,
    /// The text in place of the dots in the names that peers see.
    separator: Box<str>,
}

impl fmt::Debug for Index {
    #[inline]
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(&self.entries).finish()
    }
}

impl Index {
    /// Indexes `entries`, whose keys are unique. Names contain `separator` already.
    pub(crate) fn new(kind: EntryKind, entries: Vec<Arc<Entry>>, separator: Option<&str>) -> Self {
        let key = |(index, entry): (usize, &Arc<Entry>)| (entry.key().into(), index);
        let mut by_key: Vec<_> = entries.iter().enumerate().map(key).collect();
        by_key.sort_unstable();
        Self {
            kind,
            by_key,
            by_safe_form: OnceLock::new(),
            entries,
            separator: separator.unwrap_or(".").into(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(crate) fn kind(&self) -> EntryKind {
        self.kind
    }

    pub(crate) fn entries(&self) -> &[Arc<Entry>] {
        &self.entries
    }

    /// Returns `true` if an entry has completers.
    pub(crate) fn has_completers(&self) -> bool {
        self.entries
            .iter()
            .any(|entry| !entry.completers.is_empty())
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Entry> {
        self.position(key).map(|index| &*self.entries[index])
    }

    /// Returns the position of the entry with this key.
    pub(crate) fn position(&self, key: &str) -> Option<usize> {
        position(&self.by_key, key)
    }

    /// Iterates over all keys, in order.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| entry.key())
    }

    /// Returns the entry that a peer calls `name`.
    pub(crate) fn find(&self, name: &str, absences: &[Absence]) -> Result<&Entry, RpcError> {
        self.known(name).ok_or_else(|| self.unknown(name, absences))
    }

    /// Returns the entry that a peer calls `name`, if there is one.
    pub(crate) fn known(&self, name: &str) -> Option<&Entry> {
        self.get(name).or_else(|| self.find_by_safe_form(name))
    }

    /// Returns the entry that a host without dots in names calls `name`.
    #[cold]
    fn find_by_safe_form(&self, name: &str) -> Option<&Entry> {
        let forms = self
            .by_safe_form
            .get_or_init(|| safe_forms(&self.by_key, self.kind));
        forms.get(name).map(|index| &*self.entries[*index])
    }

    /// Returns the error for an unknown name: it is malformed, its namespace is absent or unknown, or the rest of it.
    #[cold]
    fn unknown(&self, name: &str, absences: &[Absence]) -> RpcError {
        let (kind, asked) = (self.kind.noun(), quoted(name));
        if let Err(problem) = validate_name(name) {
            return self.suggest(name, format!("the {kind} name {asked} {problem}"));
        }
        if self.has_namespace(name) {
            return RpcError::invalid_params(format!(
                "{asked} is a namespace, not a {kind}; see `{}/list`",
                self.kind.member()
            ));
        }
        let unknown = format!("unknown {kind} {asked}");
        let split = self.split_namespace(name);
        let is_inside = split.is_some_and(|(namespace, _)| self.has_namespace(namespace));
        let reason = |absence: &Absence| absence.reason_for(name, &self.separator);
        if let Some(reason) = absences.iter().filter(|_| !is_inside).find_map(reason) {
            return RpcError::invalid_params(format!("{unknown}: {reason}"));
        }
        let message = match split {
            Some((namespace, method)) if is_inside => {
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

    /// Returns an error with the known name nearest to `name`.
    fn suggest(&self, name: &str, message: String) -> RpcError {
        match nearest(name, self.keys()) {
            Some(known) => RpcError::invalid_params(format!("{message}; did you mean `{known}`?")),
            None => RpcError::invalid_params(message),
        }
    }

    /// Splits a name into its namespace, which may be unknown, and the rest. A separator other than the dot may be a part of
    /// any name, so the text in front of it is a namespace only if it is known.
    fn split_namespace<'a>(&self, name: &'a str) -> Option<(&'a str, &'a str)> {
        if *self.separator == *"." {
            return name.rsplit_once('.');
        }
        let known = self.entries.iter().flat_map(|entry| entry.namespaces());
        let rest = |namespace: &str| {
            let mut parts = namespace.split('.');
            parts.try_fold(name, |rest, part| {
                rest.strip_prefix(part)?.strip_prefix(&*self.separator)
            })
        };
        let shortest = known.filter_map(rest).min_by_key(|it| it.len())?;
        let end = name.len() - shortest.len() - self.separator.len();
        Some((&name[..end], shortest))
    }

    /// Returns `true` if the namespace, or one nested in it, has an entry.
    fn has_namespace(&self, namespace: &str) -> bool {
        let mut known = self.entries.iter().flat_map(|entry| entry.namespaces());
        known.any(|known| is_separated(known, namespace, &self.separator))
    }
}

/// Returns `true` if `text` is `name` with `separator` in place of the dots.
fn is_separated(name: &str, text: &str, separator: &str) -> bool {
    let (first, others) = name.split_once('.').unwrap_or((name, ""));
    let mut others = others.split_terminator('.');
    let rest = text.strip_prefix(first).and_then(|rest| {
        others.try_fold(rest, |rest, part| {
            rest.strip_prefix(separator)?.strip_prefix(part)
        })
    });
    rest == Some("")
}

/// Returns the position of `key`, given sorted keys with their positions.
fn position(by_key: &[(Box<str>, usize)], key: &str) -> Option<usize> {
    let found = by_key.binary_search_by(|(known, _)| (**known).cmp(key));
    found.ok().map(|at| by_key[at].1)
}

/// Returns the forms that hosts rewrite names of tools to, for models whose interface rejects dots: `_` or `__` for each dot. An
/// ambiguous form, or one that is the name of another tool, is omitted.
fn safe_forms(by_key: &[(Box<str>, usize)], kind: EntryKind) -> HashMap<Box<str>, usize> {
    let mut forms: HashMap<Box<str>, Option<usize>> = HashMap::new();
    let dotted = by_key.iter().filter(|(name, _)| name.contains('.'));
    for (name, index) in dotted.filter(|_| kind == EntryKind::Tool) {
        for replacement in ["_", "__"] {
            let form = name.replace('.', replacement).into_boxed_str();
            if position(by_key, &form).is_some() {
                continue;
            }
            let unique = forms.entry(form).or_insert(Some(*index));
            *unique = unique.filter(|unique| unique == index);
        }
    }
    let forms = forms.into_iter();
    forms
        .filter_map(|(form, index)| Some((form, index?)))
        .collect()
}

/// Replaces the dots in `name` by `separator`.
pub(crate) fn separate(kind: &str, name: &mut String, separator: &str) -> Result<(), String> {
    let separated = name.replace('.', separator);
    if let Err(problem) = validate(kind, &separated) {
        return Err(format!(
            "with the separator `{separator}`, the {kind} name `{separated}` {problem}"
        ));
    }
    *name = separated;
    Ok(())
}
