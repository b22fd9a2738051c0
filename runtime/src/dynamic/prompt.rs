//! Prompts that are made at run time.

use std::borrow::Cow;
use std::collections::HashSet;
use std::future::Future;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use treenail_schema::PromptArgument;

use super::arguments::{Arguments, Form};
use super::checked::Unchecked;
use super::common::{Suggestions, completions, metadata};
use super::raw::{RawOutcome, RawResult, bounded};
use super::texts::Texts;
use super::{Bound, Feature, results};
use crate::context::Context;
use crate::function::{Function, Output};
use crate::naming::full_name;
use crate::prompt::PromptInfo;
use crate::prompt::output::PromptOutput;
use crate::registered::Registered;
use crate::scope::RequiredScopes;
use crate::wire::RpcError;

/// Builder of a prompt that is made at run time. Needs the feature `dynamic`.
///
/// [`handler`](Self::handler), [`blocking`](Self::blocking) or [`raw`](Self::raw) completes it. It can be made from a
/// descriptor too, with `Prompt::from`.
///
/// ```
/// use treenail::dynamic::Prompt;
/// use treenail::schema::PromptArgument;
/// use treenail::{Server, ToolError};
///
/// let trip = Prompt::new("trip")
///     .description("Plans a trip.")
///     .argument(PromptArgument::new("city").with_required(true))
///     .complete("city", |typed| {
///         ["Bergen", "Oslo"].into_iter().filter(move |city| city.starts_with(typed.text()))
///     })
///     .handler(|_, arguments| async move {
///         let city = arguments.get("city").unwrap_or_default();
///         format!("Plan a trip to {city}.")
///     });
/// let server = Server::builder("demo", "1.0.0").add(trip).build()?;
/// # Ok::<(), treenail::Error>(())
/// ```
#[must_use = "a prompt is complete once it has a handler"]
pub struct Prompt {
    descriptor: treenail_schema::Prompt,
    scopes: Option<RequiredScopes>,
    suggestions: Suggestions,
    problem: Result<(), String>,
}

metadata!(Prompt);
completions!(Prompt);

impl From<treenail_schema::Prompt> for Prompt {
    fn from(descriptor: treenail_schema::Prompt) -> Self {
        Self {
            descriptor,
            scopes: None,
            suggestions: Suggestions::default(),
            problem: Ok(()),
        }
    }
}

impl Prompt {
    /// Creates a prompt without arguments.
    pub fn new(name: impl Into<String>) -> Self {
        treenail_schema::Prompt::new(name).into()
    }

    /// Adds an argument. It is a string, and optional unless it is declared as required. Building the server fails if two
    /// arguments have the same name, except with a [`raw`](Self::raw) handler.
    pub fn argument(mut self, argument: impl Into<PromptArgument>) -> Self {
        let arguments = self.descriptor.arguments.get_or_insert_default();
        arguments.push(argument.into());
        self
    }

    /// Completes the prompt with an asynchronous handler.
    pub fn handler<F, R, T>(mut self, handler: F) -> Feature
    where
        F: Fn(Context, Arguments) -> R + Send + Sync + 'static,
        R: Future<Output = T> + Send + 'static,
        T: PromptOutput + 'static,
    {
        let body = move |_, context, values| handler(context, values);
        let function = Function::asynchronous(self.arguments(), T::output(), body);
        self.feature(function)
    }

    /// Completes the prompt with a blocking handler, which runs on a thread for blocking work.
    pub fn blocking<F, T>(mut self, handler: F) -> Feature
    where
        F: Fn(Context, Arguments) -> T + Send + Sync + 'static,
        T: PromptOutput + Send + 'static,
    {
        let body = move |_, context, values| handler(context, values);
        let function = Function::blocking(self.arguments(), T::output(), body);
        self.feature(function)
    }

    /// Completes the prompt with a handler that takes the arguments as they are and returns the text of a `GetPromptResult`.
    ///
    /// The arguments are an object, but nothing else is checked. An error of the handler becomes a JSON-RPC error.
    pub fn raw<F, R>(self, handler: F) -> Feature
    where
        F: Fn(Context, Arguments) -> R + Send + Sync + 'static,
        R: Future<Output = Result<RawResult, RpcError>> + Send + 'static,
    {
        let output = Output::<RawOutcome, PromptInfo> {
            schema: |_| None,
            write: |outcome, info, (), result| results::prompt(outcome, info, result),
        };
        let body =
            move |_, context: Context, values| bounded(context.clone(), handler(context, values));
        self.feature(Function::asynchronous(Unchecked(Form::Json), output, body))
    }

    fn arguments(&mut self) -> Texts {
        let arguments = self.descriptor.arguments.iter().flatten();
        let mut names = HashSet::new();
        if let Some(repeated) = arguments.clone().find(|it| !names.insert(&*it.name)) {
            let name = &repeated.name;
            self.problem = Err(format!("it has two arguments called `{name}`"));
        }
        let arguments = arguments.map(|it| (it.name.clone(), it.required == Some(true)));
        Texts::new(arguments.collect())
    }

    fn feature(self, function: Function<(), PromptInfo>) -> Feature {
        let name = self.descriptor.name.clone();
        Feature::new("prompt", &name, move |namespace| {
            self.bind(function, namespace).map(Bound::Prompt)
        })
    }

    fn bind(
        self,
        function: Function<(), PromptInfo>,
        namespace: &str,
    ) -> Result<Registered<treenail_schema::Prompt>, String> {
        let mut descriptor = self.descriptor;
        let name = full_name("prompt", namespace, &descriptor.name)?;
        let names = descriptor.arguments.iter().flatten();
        let completers = self
            .problem
            .and_then(|()| {
                let names = names.map(|it| Cow::Borrowed(&*it.name));
                self.suggestions.bind(names)
            })
            .map_err(|problem| format!("prompt `{name}`: {problem}"))?;
        descriptor.name = name;
        let bound = Registered::new(descriptor, move |descriptor| {
            let info = PromptInfo::new(descriptor, input_schema(descriptor));
            function.bind(Arc::new(()), info)
        });
        Ok(bound.with_completers(completers).with_scopes(self.scopes))
    }
}

/// Returns the schema of the arguments, for error messages.
fn input_schema(prompt: &treenail_schema::Prompt) -> Map<String, Value> {
    let arguments = || prompt.arguments.iter().flatten();
    let properties: Map<_, _> = arguments()
        .map(|it| (it.name.clone(), json!({"type": "string"})))
        .collect();
    let mut schema = Map::new();
    schema.insert("properties".to_owned(), properties.into());
    schema
}
