//! Metadata and completion, which several kinds of features have.

use std::borrow::Cow;
use std::future::Future;
use std::sync::Arc;

use super::arguments::{Arguments, Form};
use super::checked::Unchecked;
use super::raw::{RawOutcome, RawResult, bounded};
use super::results;
use crate::completion::{Completer, CompleterInfo, CompletionRequest, IntoCompletions};
use crate::context::Context;
use crate::function::{Function, Output};
use crate::naming::nearest;
use crate::registered::Completers;
use crate::wire::RpcError;

/// Completion of the arguments of a feature.
#[derive(Default)]
pub(super) struct Suggestions {
    by_argument: Vec<(String, Completer<()>)>,
    raw: Option<Function<(), CompleterInfo>>,
}

impl Suggestions {
    /// Adds completion for one argument.
    pub(super) fn add<F, C, K>(&mut self, argument: String, complete: F)
    where
        F: Fn(CompletionRequest) -> C + Send + Sync + 'static,
        C: IntoCompletions<K> + Send + 'static,
    {
        let complete = Arc::new(complete);
        let body = move |_, request| {
            let complete = Arc::clone(&complete);
            async move { complete(request).into_completions().await }
        };
        self.by_argument.push((argument, Completer::new(body)));
    }

    /// Sets the completion of all arguments without their own.
    pub(super) fn set_raw<F, R>(&mut self, complete: F)
    where
        F: Fn(Context, Arguments) -> R + Send + Sync + 'static,
        R: Future<Output = Result<RawResult, RpcError>> + Send + 'static,
    {
        let output = Output::<RawOutcome, CompleterInfo> {
            schema: |_| None,
            write: |outcome, info, (), result| results::completion(outcome, info, result),
        };
        let body =
            move |_, context: Context, values| bounded(context.clone(), complete(context, values));
        self.raw = Some(Function::asynchronous(Unchecked(Form::Json), output, body));
    }

    /// Completes the handlers. `known` are the arguments of the feature.
    pub(super) fn bind<'a>(
        self,
        known: impl Iterator<Item = Cow<'a, str>> + Clone,
    ) -> Result<Completers, String> {
        for (argument, _) in &self.by_argument {
            if !known.clone().any(|known| known == **argument) {
                let known: Vec<_> = known.collect();
                let hint = match nearest(argument, known.iter().map(|known| &**known)) {
                    Some(near) => format!("; did you mean `{near}`?"),
                    None => String::new(),
                };
                return Err(format!(
                    "there is no argument `{argument}` to complete{hint}"
                ));
            }
        }
        let state = Arc::new(());
        let handlers = self.by_argument.into_iter();
        let handlers = handlers.map(|(argument, completer)| completer.bind(argument, &state));
        let mut completers: Completers = handlers.collect();
        if let Some(function) = self.raw {
            let info = CompleterInfo {
                argument: Cow::Borrowed("any argument"),
            };
            completers.set_any(function.bind(state, info));
        }
        Ok(completers)
    }
}

/// Defines the setters of the members that all descriptors have, for a builder with the fields `descriptor`, `scopes` and
/// `problem`.
macro_rules! metadata {
    ($builder:ident) => {
        impl $builder {
            /// Sets the display name.
            pub fn title(mut self, title: impl Into<String>) -> Self {
                self.descriptor.title = Some(title.into());
                self
            }

            /// Sets the description, which is written for the model.
            pub fn description(mut self, description: impl Into<String>) -> Self {
                self.descriptor.description = Some(description.into());
                self
            }

            /// Sets the icons.
            pub fn icons(mut self, icons: impl crate::IntoIcons) -> Self {
                let icons = icons.into_icons();
                self.descriptor.icons = (!icons.is_empty()).then_some(icons);
                self
            }

            /// Sets the `_meta` object. Building the server fails for a JSON value that is not an object.
            pub fn meta(mut self, meta: impl crate::IntoMeta) -> Self {
                match meta.into_meta() {
                    Ok(meta) => self.descriptor.meta = Some(meta),
                    Err(problem) => self.problem = Err(problem),
                }
                self
            }

            /// Sets the scopes that its requests need on a server with authorization.
            pub fn scope(mut self, scopes: impl crate::IntoScopes) -> Self {
                self.scopes = Some(scopes.into_scopes());
                self
            }
        }

        impl std::fmt::Debug for $builder {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter
                    .debug_struct(stringify!($builder))
                    .field("descriptor", &self.descriptor)
                    .finish_non_exhaustive()
            }
        }
    };
}

/// Defines the completion of a builder with the field `suggestions`.
macro_rules! completions {
    ($builder:ident) => {
        impl $builder {
            /// Adds completion for an argument, or a variable of a URI, as `#[arg(complete = …)]` does.
            pub fn complete<F, C, K>(mut self, argument: impl Into<String>, complete: F) -> Self
            where
                F: Fn(crate::completion::CompletionRequest) -> C + Send + Sync + 'static,
                C: crate::completion::IntoCompletions<K> + Send + 'static,
            {
                self.suggestions.add(argument.into(), complete);
                self
            }

            /// Adds completion for everything without its own: a handler that takes the JSON text of the parameters of
            /// `completion/complete`, and returns that of a `CompleteResult`.
            pub fn complete_raw<F, R>(mut self, complete: F) -> Self
            where
                F: Fn(Context, Arguments) -> R + Send + Sync + 'static,
                R: Future<Output = Result<RawResult, RpcError>> + Send + 'static,
            {
                self.suggestions.set_raw(complete);
                self
            }
        }
    };
}

pub(super) use {completions, metadata};
