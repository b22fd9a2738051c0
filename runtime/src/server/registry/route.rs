//! Route of a request to a list or a function.

use std::borrow::Cow;

use treenail_schema::{
    CompleteRequestParams, CompletionReference, Method, Revision, TaskSupport, error_code,
};

use crate::handler::Handler;
use crate::naming::nearest;
use crate::registered::Completers;
use crate::server::config::ServerConfig;
use crate::server::registry::index::Index;
use crate::server::registry::snapshot::Snapshot;
use crate::wire::{Params, RpcError, object, quoted, shortened, string};

/// Capability of revision 2025-11-25 for calls with the parameter `task`. Without it, servers ignore the parameter.
const TASKS: &str = "tasks";

/// Route of a request.
pub(crate) enum Route<'a> {
    /// The result: a page of a list, or the description of the server.
    Page(Cow<'a, [u8]>),
    /// A function.
    Function {
        handler: &'a Handler,
        /// The name of a tool or prompt, the URI of a resource, or the argument to complete.
        name: Cow<'a, str>,
        /// The text of the object with the arguments.
        arguments: Option<Cow<'a, str>>,
    },
}

impl Snapshot {
    /// Returns the route of a request, or `None` if its method belongs to nothing that the server has.
    pub(crate) fn route<'a>(
        &'a self,
        method: Method,
        params: &Params<'a>,
        revision: Revision,
        config: &ServerConfig,
    ) -> Result<Option<Route<'a>>, RpcError> {
        let page = match method {
            Method::CallTool if self.has_tools() => {
                let route = self.named(&self.tools.index, params)?;
                if config.extensions.declares(revision, TASKS) {
                    self.check_task(&route, params)?;
                }
                return Ok(Some(route));
            }
            Method::GetPrompt if self.has_prompts() => {
                return self.named(&self.prompts.index, params).map(Some);
            }
            Method::ReadResource if self.has_resources() => {
                return self.resource(params, revision).map(Some);
            }
            Method::Complete if self.has_completers() => {
                return self.completion(params).map(Some);
            }
            Method::Discover => Ok(Cow::Borrowed(self.handshake_result(revision))),
            Method::ListTools if self.has_tools() => self.tools.page(revision, params, config),
            Method::ListPrompts if self.has_prompts() => {
                self.prompts.page(revision, params, config)
            }
            Method::ListResources if self.has_resources() => {
                self.resources.single.page(revision, params, config)
            }
            Method::ListResourceTemplates if self.has_resources() => {
                self.resources.families.page(revision, params, config)
            }
            _ => return Ok(None),
        };
        page.map(|page| Some(Route::Page(page)))
    }

    /// Returns the route to the tool or prompt `params.name`.
    fn named<'a>(&'a self, index: &'a Index, params: &Params<'a>) -> Result<Route<'a>, RpcError> {
        let name = string("name", params.name)?;
        let arguments = object("arguments", params.arguments)?;
        let entry = index.find(&name, &self.absences)?;
        Ok(Route::Function {
            handler: &entry.handler,
            // Its own name; hosts may write the dots in another way.
            name: Cow::Borrowed(entry.key()),
            arguments: arguments.map(Cow::Borrowed),
        })
    }

    /// Refuses a call that requests a task of a tool without task support.
    fn check_task(&self, route: &Route<'_>, params: &Params<'_>) -> Result<(), RpcError> {
        let Route::Function { name, .. } = route else {
            return Ok(());
        };
        let execution = self
            .tools
            .index
            .get(name)
            .and_then(|entry| entry.tool()?.execution.as_ref());
        let support = execution.and_then(|execution| execution.task_support);
        if !matches!(support, None | Some(TaskSupport::Forbidden))
            || params.member("task")?.is_none()
        {
            return Ok(());
        }
        let message =
            format!("the tool `{name}` does not support tasks; call it without `params.task`");
        Err(RpcError::new(error_code::METHOD_NOT_FOUND, message))
    }

    fn resource<'a>(
        &'a self,
        params: &Params<'a>,
        revision: Revision,
    ) -> Result<Route<'a>, RpcError> {
        let uri = string("uri", params.member("uri")?)?;
        let (handler, arguments) = self.resources.find(&uri, revision)?;
        Ok(Route::Function {
            handler,
            name: uri,
            arguments: arguments.map(Cow::Owned),
        })
    }

    fn completion<'a>(&'a self, params: &Params<'a>) -> Result<Route<'a>, RpcError> {
        let text = params.text.unwrap_or("{}");
        let read: CompleteRequestParams = serde_json::from_str(text).map_err(|error| {
            let reason = shortened(&error.to_string());
            RpcError::invalid_params(format!(
                "invalid `params` for `completion/complete`: {reason}"
            ))
        })?;
        let (arguments, completers) = self.completers(&read.ref_)?;
        let name = &*read.argument.name;
        let completer = completers.find(name);
        if completer.is_none() && !arguments.contains(&name) {
            let hint = match nearest(name, arguments.into_iter()) {
                Some(known) => format!("; did you mean `{known}`?"),
                None => String::new(),
            };
            let message = format!("there is no argument {}{hint}", quoted(name));
            return Err(RpcError::invalid_params(message));
        }
        Ok(Route::Function {
            handler: completer.unwrap_or(&self.no_completions),
            name: read.argument.name.into(),
            arguments: Some(text.into()),
        })
    }

    /// Returns the arguments of a prompt or template, and their completers.
    fn completers(
        &self,
        reference: &CompletionReference,
    ) -> Result<(Vec<&str>, &Completers), RpcError> {
        match reference {
            CompletionReference::Prompt(reference) => {
                let prompts = &self.prompts.index;
                let prompt = prompts.find(&reference.name, &self.absences)?;
                let arguments = prompt.prompt().and_then(|prompt| prompt.arguments.as_ref());
                let arguments = arguments.into_iter().flatten();
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
