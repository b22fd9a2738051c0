//! The table of tools: which one a name means, and which one was probably meant.

use std::collections::HashMap;
use std::fmt;

use treenail_schema::Tool;

use crate::respond::Handler;
use crate::tool::BoundTool;
use crate::tool::name::{flaw, nearest};
use crate::wire::{RpcError, quoted};

/// A tool as peers see it, and what answers the calls of it.
pub(crate) struct Entry {
    pub(crate) descriptor: Tool,
    pub(crate) handler: Handler,
}

impl fmt::Debug for Entry {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Entry")
            .field("name", &self.descriptor.name)
            .finish_non_exhaustive()
    }
}

/// The tools of a server, in the order in which they were added.
#[derive(Debug)]
pub(crate) struct ToolTable {
    tools: Vec<Entry>,
    /// Where each name, as peers write it, stands in `tools`.
    by_name: HashMap<Box<str>, usize>,
    separator: Box<str>,
}

impl ToolTable {
    /// Names the tools as peers will see them, and refuses two of one name.
    pub(crate) fn new(tools: Vec<BoundTool>, separator: Option<&str>) -> Result<Self, String> {
        let mut by_name = HashMap::with_capacity(tools.len());
        let mut entries = Vec::with_capacity(tools.len());
        for (index, mut tool) in tools.into_iter().enumerate() {
            if let Some(separator) = separator {
                separate(&mut tool.descriptor.name, separator)?;
            }
            let (descriptor, handler) = tool.finish();
            if by_name
                .insert(descriptor.name.as_str().into(), index)
                .is_some()
            {
                let name = &descriptor.name;
                return Err(format!(
                    "two tools have the name `{name}`; give one of them `name = \"…\"` or a namespace"
                ));
            }
            entries.push(Entry {
                descriptor,
                handler,
            });
        }
        Ok(Self {
            tools: entries,
            by_name,
            separator: separator.unwrap_or(".").into(),
        })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    pub(crate) fn descriptors(&self) -> impl Iterator<Item = &Tool> {
        self.tools.iter().map(|tool| &tool.descriptor)
    }

    /// What answers the calls of the tool called `name`.
    pub(crate) fn find(&self, name: &str) -> Result<&Handler, RpcError> {
        let index = self.by_name.get(name).ok_or_else(|| self.unknown(name))?;
        Ok(&self.tools[*index].handler)
    }

    /// Says what is wrong with a name that no tool has: its form, its namespace, or the rest.
    #[cold]
    fn unknown(&self, name: &str) -> RpcError {
        let asked = quoted(name);
        if let Some(flaw) = flaw(name) {
            return self.suggest(name, format!("the tool name {asked} {flaw}"));
        }
        let has = |namespace: &str| self.namespaces().any(|known| known == namespace);
        match self.split(name) {
            (None, method) if has(method) => RpcError::invalid_params(format!(
                "{asked} is a namespace, not a tool; see `tools/list`"
            )),
            (Some(namespace), method) if has(namespace) => {
                let (namespace, method) = (quoted(namespace), quoted(method));
                self.suggest(
                    name,
                    format!("unknown tool {asked}: namespace {namespace} has no {method}"),
                )
            }
            (Some(namespace), _) => {
                let namespace = quoted(namespace);
                self.suggest(
                    name,
                    format!("unknown tool {asked}: there is no namespace {namespace}"),
                )
            }
            (None, _) => self.suggest(name, format!("unknown tool {asked}")),
        }
    }

    /// An error with the name that was probably meant.
    fn suggest(&self, name: &str, message: String) -> RpcError {
        match nearest(name, self.names()) {
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
        self.names().filter_map(|name| self.split(name).0)
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.descriptors().map(|tool| tool.name.as_str())
    }
}

/// Writes `separator` for the dots in `name`.
fn separate(name: &mut String, separator: &str) -> Result<(), String> {
    if name.contains(separator) {
        return Err(format!(
            "the tool name `{name}` has the separator `{separator}` in it already; choose another one"
        ));
    }
    let separated = name.replace('.', separator);
    if let Some(flaw) = flaw(&separated) {
        return Err(format!(
            "with the separator `{separator}`, the tool name `{separated}` {flaw}"
        ));
    }
    *name = separated;
    Ok(())
}
