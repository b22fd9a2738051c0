//! All that a server offers, and what of it a request asks for.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use treenail_schema::{CompleteRequestParams, CompletionReference, Prompt, Revision, Tool, field};

use crate::completion::empty_handler;
use crate::definition::Completers;
use crate::naming::nearest;
use crate::respond::Handler;
use crate::server::catalog::Catalog;
use crate::server::list::Section;
use crate::server::resources::Resources;
use crate::server::setup::Setup;
use crate::server::subscriptions::Kind;
use crate::server::table::{Descriptor, Table};
use crate::wire::{Params, RpcError, object, quoted, shortened, string};

/// All that a server offers at one time.
pub(crate) struct Offer {
    /// Which one it is; a later one has a higher number.
    pub(crate) version: u64,
    pub(crate) dynamic: bool,
    tools: Arc<Section<Tool>>,
    /// The arguments that clients repeat in headers of HTTP, of the tools that have such arguments.
    #[cfg(feature = "http-server")]
    mirrors: std::collections::HashMap<Box<str>, Vec<crate::tool::header_params::HeaderParam>>,
    prompts: Arc<Section<Prompt>>,
    pub(crate) resources: Resources,
    /// The results of `initialize`, and of `server/discover`, for each revision.
    greetings: [Vec<u8>; Revision::ALL.len()],
    /// Answers for arguments that nothing proposes values for.
    nothing: Handler,
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
    Page(Cow<'a, [u8]>),
    /// Something that a function answers.
    Function {
        handler: &'a Handler,
        target: Cow<'a, str>,
        /// The text of the object with the arguments.
        arguments: Option<Cow<'a, str>>,
    },
}

impl Offer {
    /// What `catalog` offers; shares with `old` what has not changed.
    pub(crate) fn new(catalog: &Catalog, old: Option<&Self>, setup: &Setup) -> Self {
        let (tools, prompts) = (&catalog.tools, &catalog.prompts);
        let (single, families) = (&catalog.resources, &catalog.templates);
        let resources = Resources {
            single: Section::new(single, old.map(|old| &old.resources.single), setup),
            families: Section::new(families, old.map(|old| &old.resources.families), setup),
        };
        let tools = Section::new(tools, old.map(|old| &old.tools), setup);
        let mut offer = Self {
            version: old.map_or(0, |old| old.version + 1),
            dynamic: setup.dynamic,
            #[cfg(feature = "http-server")]
            mirrors: mirrors(&tools.table),
            tools,
            prompts: Section::new(prompts, old.map(|old| &old.prompts), setup),
            resources,
            greetings: Default::default(),
            nothing: empty_handler(),
        };
        let instructions = catalog.instructions();
        offer.greetings = Revision::ALL
            .map(|revision| setup.greeting(revision, &offer.capabilities(revision), &instructions));
        offer
    }

    /// The lists that are not what they were in `old`.
    pub(crate) fn changes_since(&self, old: &Self) -> Vec<Kind> {
        let resources = Arc::ptr_eq(&self.resources.single, &old.resources.single)
            && Arc::ptr_eq(&self.resources.families, &old.resources.families);
        let same = [
            (Kind::Tools, Arc::ptr_eq(&self.tools, &old.tools)),
            (Kind::Prompts, Arc::ptr_eq(&self.prompts, &old.prompts)),
            (Kind::Resources, resources),
        ];
        let changed = same.into_iter().filter(|(_, same)| !same);
        changed.map(|(kind, _)| kind).collect()
    }

    /// The arguments of a tool that clients repeat in headers.
    #[cfg(feature = "http-server")]
    pub(crate) fn mirrors(&self, tool: &str) -> &[crate::tool::header_params::HeaderParam] {
        if self.mirrors.is_empty() {
            return &[];
        }
        // A tool has the same headers under each of its names.
        let tool = match self.tools.table.named(tool) {
            Ok(entry) => entry.descriptor.key(),
            Err(_) => return &[],
        };
        self.mirrors.get(tool).map_or(&[], Vec::as_slice)
    }

    /// The result of `initialize`, or of `server/discover` in the modern era.
    pub(crate) fn greeting(&self, revision: Revision) -> &[u8] {
        &self.greetings[revision.index()]
    }

    /// Whether some function can write to the client's log, now or later.
    pub(crate) fn logs(&self) -> bool {
        self.has_tools() || self.has_prompts() || self.has_resources()
    }

    /// Whether there are tools, or may be later.
    fn has_tools(&self) -> bool {
        self.dynamic || !self.tools.table.is_empty()
    }

    fn has_prompts(&self) -> bool {
        self.dynamic || !self.prompts.table.is_empty()
    }

    fn has_resources(&self) -> bool {
        self.dynamic || !self.resources.is_empty()
    }

    fn completes(&self) -> bool {
        self.prompts.table.completes() || self.resources.families.table.completes()
    }

    /// What peers of a revision are told that the server can do.
    fn capabilities(&self, revision: Revision) -> Value {
        let known = |capability: &str| {
            let facts = field("ServerCapabilities", capability);
            facts.is_some_and(|facts| facts.revisions.contains(revision))
        };
        let list = if self.dynamic {
            json!({ "listChanged": true })
        } else {
            json!({})
        };
        let mut resources = list.clone();
        if self.resources.can_be_subscribed() {
            resources["subscribe"] = true.into();
        }
        let all = [
            ("logging", self.logs(), json!({})),
            ("completions", self.completes(), json!({})),
            ("prompts", self.has_prompts(), list.clone()),
            ("resources", self.has_resources(), resources),
            ("tools", self.has_tools(), list),
        ];
        all.into_iter()
            .filter(|(capability, offered, _)| *offered && known(capability))
            .map(|(capability, _, details)| (capability.to_owned(), details))
            .collect::<Map<_, _>>()
            .into()
    }

    /// What a request asks for, or `None` if its method belongs to nothing that is offered.
    pub(crate) fn find<'a>(
        &'a self,
        method: &str,
        params: &Params<'a>,
        revision: Revision,
        setup: &Setup,
    ) -> Result<Option<Asked<'a>>, RpcError> {
        match method {
            "tools/call" if self.has_tools() => {
                return named(&self.tools.table, params).map(Some);
            }
            "prompts/get" if self.has_prompts() => {
                return named(&self.prompts.table, params).map(Some);
            }
            "resources/read" if self.has_resources() => {
                return self.resource(params, revision).map(Some);
            }
            "completion/complete" if self.completes() => {
                return self.completion(params).map(Some);
            }
            _ => {}
        }
        let cursor = params.cursor.map(|cursor| string("cursor", Some(cursor)));
        let cursor = cursor.transpose()?;
        let cursor = cursor.as_deref();
        let page = match method {
            "tools/list" if self.has_tools() => self.tools.page(revision, cursor, setup),
            "prompts/list" if self.has_prompts() => self.prompts.page(revision, cursor, setup),
            "resources/list" if self.has_resources() => {
                self.resources.single.page(revision, cursor, setup)
            }
            "resources/templates/list" if self.has_resources() => {
                self.resources.families.page(revision, cursor, setup)
            }
            _ => return Ok(None),
        };
        page.map(|page| Some(Asked::Page(page)))
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
            let reason = shortened(&error.to_string());
            RpcError::invalid_params(format!(
                "`params` is not what `completion/complete` takes: {reason}"
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
                let prompt = self.prompts.table.named(&reference.name)?;
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

/// The arguments that are repeated in headers, of the tools that have any.
#[cfg(feature = "http-server")]
fn mirrors(
    tools: &Table<Tool>,
) -> std::collections::HashMap<Box<str>, Vec<crate::tool::header_params::HeaderParam>> {
    let entries = tools.entries().iter();
    let found = entries.filter_map(|entry| {
        let tool = &entry.descriptor;
        // Schemas were checked when the tool was added.
        let mirrors = crate::tool::header_params::header_params(&tool.input_schema).ok()?;
        (!mirrors.is_empty()).then(|| (tool.name.as_str().into(), mirrors))
    });
    found.collect()
}

/// The tool or prompt that `params.name` names.
fn named<'a, D: Descriptor>(
    table: &'a Table<D>,
    params: &Params<'a>,
) -> Result<Asked<'a>, RpcError> {
    let name = string("name", params.name)?;
    let arguments = object("arguments", params.arguments)?;
    let entry = table.named(&name)?;
    Ok(Asked::Function {
        handler: &entry.handler,
        // Its own name, whatever the peer calls it.
        target: Cow::Borrowed(entry.descriptor.key()),
        arguments: arguments.map(Cow::Borrowed),
    })
}
