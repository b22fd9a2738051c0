//! The table of tools: which one a name means, and which one was probably meant.

use std::collections::HashMap;

use crate::tool::BoundTool;
use crate::tool::name::{flaw, nearest};
use crate::wire::{RpcError, quoted};

/// The tools of a server, in the order in which they were added.
#[derive(Debug)]
pub(crate) struct ToolTable {
    tools: Vec<BoundTool>,
    /// Where each name, as peers write it, stands in `tools`.
    by_name: HashMap<Box<str>, usize>,
    separator: Box<str>,
}

impl ToolTable {
    /// Names the tools as peers will see them, and refuses two of one name.
    pub(crate) fn new(mut tools: Vec<BoundTool>, separator: Option<&str>) -> Result<Self, String> {
        let mut by_name = HashMap::with_capacity(tools.len());
        for (index, tool) in tools.iter_mut().enumerate() {
            if let Some(separator) = separator {
                separate(&mut tool.descriptor.name, separator)?;
            }
            let name = &tool.descriptor.name;
            if by_name.insert(name.as_str().into(), index).is_some() {
                return Err(format!(
                    "two tools have the name `{name}`; give one of them `name = \"…\"` or a namespace"
                ));
            }
        }
        Ok(Self {
            tools,
            by_name,
            separator: separator.unwrap_or(".").into(),
        })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &BoundTool> {
        self.tools.iter()
    }

    /// Where the tool called `name` stands.
    pub(crate) fn find(&self, name: &str) -> Result<usize, RpcError> {
        self.by_name
            .get(name)
            .copied()
            .ok_or_else(|| self.unknown(name))
    }

    pub(crate) fn get(&self, index: usize) -> &BoundTool {
        &self.tools[index]
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
        self.tools.iter().map(|tool| tool.descriptor.name.as_str())
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
