//! Requests to read a resource, and the handlers of such requests.

use std::future::Future;

use serde::de::DeserializeOwned;

use super::arguments::{ArgumentError, Arguments, Form};
use super::checked::Unchecked;
use super::raw::{RawOutcome, RawResult, bounded};
use super::results;
use crate::call::{Call, CallValue, Lifetime};
use crate::context::Context;
use crate::function::kind::Kind;
use crate::function::{Function, Output};
use crate::resource::ResourceInfo;
use crate::resource::output::ResourceOutput;
use crate::wire::RpcError;

/// Request to read a resource, as its handler takes it. Needs the feature `dynamic`.
#[derive(Clone, Debug)]
pub struct ReadRequest {
    uri: Box<str>,
    variables: Arguments,
}

impl ReadRequest {
    /// Returns the URI as the caller wrote it.
    pub fn uri(&self) -> &str {
        &self.uri
    }

    /// Returns the decoded value of a variable of the template.
    pub fn variable(&self, name: &str) -> Option<String> {
        self.variables.get(name)
    }

    /// Deserializes the variables. Numbers and other types are parsed from their text.
    ///
    /// # Errors
    ///
    /// [`ArgumentError`] if they do not fit the type. It names the variable.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, ArgumentError> {
        self.variables.parse()
    }
}

/// Context of a call and the URI that it reads.
struct Reading {
    context: Context,
    uri: Box<str>,
}

impl CallValue for Reading {
    fn from_call(call: &Call<'_>) -> Self {
        Self {
            context: Context::from_call(call),
            uri: call.target.name.into(),
        }
    }

    fn lifetime(&self) -> Lifetime {
        self.context.lifetime()
    }
}

impl Reading {
    fn request(self, variables: Arguments) -> (Context, ReadRequest) {
        let uri = self.uri;
        (self.context, ReadRequest { uri, variables })
    }
}

/// Makes the function of an asynchronous handler.
pub(super) fn asynchronous<F, R, T, K>(handler: F) -> Function<(), ResourceInfo>
where
    F: Fn(Context, ReadRequest) -> R + Send + Sync + 'static,
    R: Future<Output = T> + Send + 'static,
    T: ResourceOutput<K> + 'static,
{
    let body = move |_, reading: Reading, variables| {
        let (context, request) = reading.request(variables);
        handler(context, request)
    };
    Function::asynchronous(Unchecked(Form::Texts), T::output(Kind::any()), body)
}

/// Makes the function of a blocking handler.
pub(super) fn blocking<F, T, K>(handler: F) -> Function<(), ResourceInfo>
where
    F: Fn(Context, ReadRequest) -> T + Send + Sync + 'static,
    T: ResourceOutput<K> + Send + 'static,
{
    let body = move |_, reading: Reading, variables| {
        let (context, request) = reading.request(variables);
        handler(context, request)
    };
    Function::blocking(Unchecked(Form::Texts), T::output(Kind::any()), body)
}

/// Makes the function of a raw handler.
pub(super) fn raw<F, R>(handler: F) -> Function<(), ResourceInfo>
where
    F: Fn(Context, ReadRequest) -> R + Send + Sync + 'static,
    R: Future<Output = Result<RawResult, RpcError>> + Send + 'static,
{
    let output = Output::<RawOutcome, ResourceInfo> {
        schema: |_| None,
        write: |outcome, info, context, result| {
            results::resource(outcome, info, context.authorized, result)
        },
    };
    let body = move |_, reading: Reading, variables| {
        let (context, request) = reading.request(variables);
        bounded(context.clone(), handler(context, request))
    };
    Function::asynchronous(Unchecked(Form::Texts), output, body)
}

/// Defines the methods that resources and templates have in common.
macro_rules! resource_methods {
    ($builder:ident) => {
        impl $builder {
            /// Sets the media type of the contents. Default: `application/json` for output types that are written as JSON.
            pub fn mime_type(mut self, mime_type: impl Into<String>) -> Self {
                self.descriptor.mime_type = Some(mime_type.into());
                self
            }

            /// Sets the annotations: audience, priority and modification date.
            pub fn annotations(mut self, annotations: impl IntoAnnotations) -> Self {
                self.descriptor.annotations = Some(annotations.into_annotations());
                self
            }

            /// Sets whether clients can subscribe to changes, which
            /// [`Server::resource_updated`](crate::Server::resource_updated) announces. Default `false`.
            pub fn subscribable(mut self, subscribable: bool) -> Self {
                self.subscribe = subscribable;
                self
            }

            /// Completes it with an asynchronous handler. A result of `None` means that the resource does not exist.
            pub fn handler<F, R, T, K>(self, handler: F) -> Feature
            where
                F: Fn(Context, ReadRequest) -> R + Send + Sync + 'static,
                R: Future<Output = T> + Send + 'static,
                T: ResourceOutput<K> + 'static,
            {
                self.feature(read::asynchronous(handler))
            }

            /// Completes it with a blocking handler, which runs on a thread for blocking work.
            pub fn blocking<F, T, K>(self, handler: F) -> Feature
            where
                F: Fn(Context, ReadRequest) -> T + Send + Sync + 'static,
                T: ResourceOutput<K> + Send + 'static,
            {
                self.feature(read::blocking(handler))
            }

            /// Completes it with a handler that returns the text of a `ReadResourceResult`. An error of the handler becomes a
            /// JSON-RPC error.
            pub fn raw<F, R>(self, handler: F) -> Feature
            where
                F: Fn(Context, ReadRequest) -> R + Send + Sync + 'static,
                R: Future<Output = Result<RawResult, RpcError>> + Send + 'static,
            {
                self.feature(read::raw(handler))
            }

            fn feature(self, function: Function<(), ResourceInfo>) -> Feature {
                let name = self.descriptor.name.clone();
                Feature::new("resource", &name, move |namespace| {
                    self.bind(function, namespace).map(Bound::Resource)
                })
            }
        }
    };
}

pub(super) use resource_methods;
