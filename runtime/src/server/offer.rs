//! All that a server offers, and what of it a request asks for.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use treenail_schema::{CompleteRequestParams, CompletionReference, Prompt, Revision, Tool, field};

use crate::around::Around;
use crate::completion::nothing;
use crate::definition::{Bound, Completers, Mount};
use crate::name::nearest;
use crate::resource::BoundResource;
use crate::respond::Handler;
use crate::revision::Style;
use crate::server::list::{Caching, List};
use crate::server::resources::Resources;
use crate::server::table::{Descriptor, Table};
use crate::tool::ToolSet;
use crate::wire::{Params, RpcError, object, quoted, string};

/// What a server will offer, in the order in which it was added.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    tools: Vec<Bound<Tool>>,
    prompts: Vec<Bound<Prompt>>,
    resources: Vec<BoundResource>,
}

impl Parts {
    pub(crate) fn mount<T: Mount>(mut self, state: T) -> Result<Self, String> {
        let state = Arc::new(state);
        for tool in T::tools() {
            self.tools.push(tool.bind(T::NAMESPACE, &state)?);
        }
        for prompt in T::prompts() {
            self.prompts.push(prompt.bind(T::NAMESPACE, &state)?);
        }
        for resource in T::resources() {
            self.resources.push(resource.bind(T::NAMESPACE, &state)?);
        }
        Ok(self)
    }

    pub(crate) fn add(mut self, tools: ToolSet) -> Result<Self, String> {
        let state = Arc::new(());
        for tool in tools.into_definitions() {
            self.tools.push(tool.bind("", &state)?);
        }
        Ok(self)
    }

    /// With what the server puts around its tools.
    pub(crate) fn within(mut self, around: &Around) -> Self {
        let tools = self.tools.into_iter();
        self.tools = tools.map(|tool| around.wrap(tool)).collect();
        self
    }
}

/// All that a server offers.
pub(crate) struct Offer {
    tools: Table<Tool>,
    prompts: Table<Prompt>,
    resources: Resources,
    lists: Lists,
    /// Answers for arguments that nothing proposes values for.
    nothing: Handler,
}

struct Lists {
    tools: List,
    prompts: List,
    resources: List,
    templates: List,
}

impl fmt::Debug for Offer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Offer")
            .field("tools", &self.tools)
            .field("prompts", &self.prompts)
            .field("resources", &self.resources)
            .finish_non_exhaustive()
    }
}

/// What a request asks for.
pub(crate) enum Asked<'a> {
    /// A page of a list, which is written already.
    Page(&'a [u8]),
    /// Something that a function answers.
    Function {
        handler: &'a Handler,
        target: Cow<'a, str>,
        /// The text of the object with the arguments.
        arguments: Option<Cow<'a, str>>,
    },
}

impl Offer {
    pub(crate) fn new(
        parts: Parts,
        separator: Option<&str>,
        styles: &[Style; Revision::ALL.len()],
        caching: &Caching,
        page_size: usize,
    ) -> Result<Self, String> {
        let tools = Table::new(parts.tools, separator)?;
        let prompts = Table::new(parts.prompts, separator)?;
        let resources = Resources::new(parts.resources, separator)?;
        let lists = Lists {
            tools: List::new(&tools, styles, caching, page_size),
            prompts: List::new(&prompts, styles, caching, page_size),
            resources: List::new(&resources.single, styles, caching, page_size),
            templates: List::new(&resources.families, styles, caching, page_size),
        };
        Ok(Self {
            tools,
            prompts,
            resources,
            lists,
            nothing: nothing(),
        })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.tools.is_empty() && self.prompts.is_empty() && self.resources.is_empty()
    }

    fn completes(&self) -> bool {
        self.prompts.completes() || self.resources.families.completes()
    }

    /// What peers of a revision are told that the server can do.
    pub(crate) fn capabilities(&self, revision: Revision) -> Value {
        let known = |capability: &str| {
            let facts = field("ServerCapabilities", capability);
            facts.is_some_and(|facts| facts.revisions.contains(revision))
        };
        let all = [
            // Each function can write to the client's log.
            ("logging", !self.is_empty()),
            ("completions", self.completes()),
            ("prompts", !self.prompts.is_empty()),
            ("resources", !self.resources.is_empty()),
            ("tools", !self.tools.is_empty()),
        ];
        all.into_iter()
            .filter(|(capability, offered)| *offered && known(capability))
            .map(|(capability, _)| (capability.to_owned(), json!({})))
            .collect::<Map<_, _>>()
            .into()
    }

    /// What a request asks for, or `None` if its method belongs to nothing that is offered.
    pub(crate) fn find<'a>(
        &'a self,
        method: &str,
        params: &Params<'a>,
        revision: Revision,
    ) -> Result<Option<Asked<'a>>, RpcError> {
        let list = match method {
            "tools/call" if !self.tools.is_empty() => {
                return named(&self.tools, params).map(Some);
            }
            "prompts/get" if !self.prompts.is_empty() => {
                return named(&self.prompts, params).map(Some);
            }
            "resources/read" if !self.resources.is_empty() => {
                return self.resource(params, revision).map(Some);
            }
            "completion/complete" if self.completes() => {
                return self.completion(params).map(Some);
            }
            "tools/list" if !self.tools.is_empty() => &self.lists.tools,
            "prompts/list" if !self.prompts.is_empty() => &self.lists.prompts,
            "resources/list" if !self.resources.is_empty() => &self.lists.resources,
            "resources/templates/list" if !self.resources.is_empty() => &self.lists.templates,
            _ => return Ok(None),
        };
        let cursor = params.cursor.map(|cursor| string("cursor", Some(cursor)));
        let page = list.page(revision, cursor.transpose()?.as_deref())?;
        Ok(Some(Asked::Page(page)))
    }

    fn resource<'a>(
        &'a self,
        params: &Params<'a>,
        revision: Revision,
    ) -> Result<Asked<'a>, RpcError> {
        let target = string("uri", params.member("uri")?)?;
        let (handler, arguments) = self.resources.find(&target, revision)?;
        Ok(Asked::Function {
            handler,
            target,
            arguments: arguments.map(Cow::Owned),
        })
    }

    fn completion<'a>(&'a self, params: &Params<'a>) -> Result<Asked<'a>, RpcError> {
        let text = params.text.unwrap_or("{}");
        let read: CompleteRequestParams = serde_json::from_str(text).map_err(|error| {
            RpcError::invalid_params(format!(
                "`params` is not what `completion/complete` takes: {error}"
            ))
        })?;
        let (arguments, completers) = self.completers(&read.ref_)?;
        let name = &*read.argument.name;
        let completer = completers.iter().find(|(argument, _)| *argument == name);
        if completer.is_none() && !arguments.contains(&name) {
            let hint = match nearest(name, arguments.into_iter()) {
                Some(known) => format!("; did you mean `{known}`?"),
                None => String::new(),
            };
            let message = format!("there is no argument {}{hint}", quoted(name));
            return Err(RpcError::invalid_params(message));
        }
        Ok(Asked::Function {
            handler: completer.map_or(&self.nothing, |(_, handler)| handler),
            target: read.argument.name.into(),
            arguments: Some(text.into()),
        })
    }

    /// The arguments of what is referred to, and what proposes values for them.
    fn completers(
        &self,
        reference: &CompletionReference,
    ) -> Result<(Vec<&str>, &Completers), RpcError> {
        match reference {
            CompletionReference::Prompt(reference) => {
                let prompt = self.prompts.named(&reference.name)?;
                let arguments = prompt.descriptor.arguments.iter().flatten();
                let names = arguments.map(|argument| &*argument.name).collect();
                Ok((names, &prompt.completers))
            }
            CompletionReference::Resource(reference) => {
                self.resources.completers(&reference.uri).ok_or_else(|| {
                    let uri = quoted(&reference.uri);
                    RpcError::invalid_params(format!("there is no resource template {uri}"))
                })
            }
            _ => Err(RpcError::invalid_params("`params.ref` is of no known type")),
        }
    }
}

/// The tool or prompt that `params.name` names.
fn named<'a, D: Descriptor>(
    table: &'a Table<D>,
    params: &Params<'a>,
) -> Result<Asked<'a>, RpcError> {
    let target = string("name", params.name)?;
    let arguments = object("arguments", params.arguments)?;
    Ok(Asked::Function {
        handler: &table.named(&target)?.handler,
        target,
        arguments: arguments.map(Cow::Borrowed),
    })
}
