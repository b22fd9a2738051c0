//! Handlers that complete a tool, and its registration in a namespace.

use std::future::Future;
use std::sync::Arc;

use super::Tool;
use crate::context::Context;
use crate::dynamic::arguments::{Arguments, Form};
use crate::dynamic::checked::{Matching, Shared, Unchecked, WithArguments, of_object};
use crate::dynamic::raw::{RawOutcome, RawResult, bounded};
use crate::dynamic::{Bound, Feature, results};
use crate::function::kind::Kind;
use crate::function::{Function, Output};
use crate::naming::full_name;
use crate::registered::Registered;
use crate::stream::{Streaming, ToolItem, ToolStream};
use crate::task::declare_task;
use crate::tool::ToolInfo;
use crate::tool::header_params::header_params;
use crate::tool::output::{ToolOutput, declare};
use crate::tool::shape::Shape;
use crate::wire::RpcError;

impl Tool {
    /// Completes the tool with an asynchronous handler.
    ///
    /// The handler is dropped when its call is cancelled. In the modern era, it runs again from its start when the client has
    /// answered [`Context::elicit`], as a macro-made tool does. An error in its output must not be a type that serializes,
    /// such as `String`: use [`ToolError`](crate::ToolError) or another [`std::error::Error`].
    pub fn handler<F, R, T, K>(self, handler: F) -> Feature
    where
        F: Fn(Context, Arguments) -> R + Send + Sync + 'static,
        R: Future<Output = T> + Send + 'static,
        T: ToolOutput<K> + 'static,
    {
        self.validated(T::output(Kind::any()), |arguments, output| {
            let body = move |_, call: WithArguments, values| {
                let (context, arguments) = call.split(values);
                handler(context, arguments)
            };
            Function::asynchronous(Shared(arguments), output, body)
        })
    }

    /// Completes the tool with a blocking handler, which runs on a thread for blocking work.
    pub fn blocking<F, T, K>(self, handler: F) -> Feature
    where
        F: Fn(Context, Arguments) -> T + Send + Sync + 'static,
        T: ToolOutput<K> + Send + 'static,
    {
        self.validated(T::output(Kind::any()), |arguments, output| {
            let body = move |_, context, values| handler(context, values);
            Function::blocking(arguments, output, body)
        })
    }

    /// Completes the tool with a handler that returns a stream of items, see [`ToolItem`]. The items are collected to one
    /// result; a caller that requested progress receives each of them.
    pub fn stream<F, S, I, M, K>(self, handler: F) -> Feature
    where
        F: Fn(Context, Arguments) -> S + Send + Sync + 'static,
        S: ToolStream<I, M> + Send + 'static,
        I: ToolItem<K> + 'static,
    {
        let items = I::items(Kind::any(), self.fold);
        let handler = Arc::new(handler);
        self.validated(items.output(), |arguments, output| {
            let body = move |_, call: Streaming<Context>, values| {
                let handler = Arc::clone(&handler);
                async move {
                    let stream = handler(call.context().clone(), values);
                    stream.collect_items(items, &call).await
                }
            };
            Function::asynchronous(arguments, output, body)
        })
    }

    /// Completes the tool with a handler that takes the arguments as they are and returns the text of a `CallToolResult`.
    ///
    /// The arguments are an object, but nothing else is checked. The input schema is only checked for `"type": "object"`, which
    /// is added if it has no type. An error of the handler becomes a JSON-RPC error. A result that is not valid becomes a
    /// failure that the model reads.
    pub fn raw<F, R>(mut self, handler: F) -> Feature
    where
        F: Fn(Context, Arguments) -> R + Send + Sync + 'static,
        R: Future<Output = Result<RawResult, RpcError>> + Send + 'static,
    {
        let output = Output::<RawOutcome, ToolInfo> {
            schema: |_| None,
            write: |outcome, info, (), result| results::tool(outcome, info, result),
        };
        let body =
            move |_, context: Context, values| bounded(context.clone(), handler(context, values));
        let function = Function::asynchronous(Unchecked(Form::Json), output, body);
        self.problem = self
            .problem
            .and(of_object(&mut self.descriptor.input_schema));
        self.feature(function)
    }

    fn validated<T>(
        mut self,
        output: Output<T, ToolInfo>,
        function: impl FnOnce(Matching, Output<T, ToolInfo>) -> Function<(), ToolInfo>,
    ) -> Feature {
        let schema = &self.descriptor.input_schema;
        let (arguments, outcome) = Matching::new(schema, &self.limits);
        let is_object = schema.get("type").is_some_and(|kind| kind == "object");
        self.problem = self.problem.and(outcome).and_then(|()| {
            is_object
                .then_some(())
                .ok_or_else(|| "its input schema lacks `\"type\": \"object\"`".to_owned())
        });
        self.feature(function(arguments, output))
    }

    fn feature(self, function: Function<(), ToolInfo>) -> Feature {
        let name = self.descriptor.name.clone();
        Feature::new("tool", &name, move |namespace| {
            self.bind(function, namespace).map(Bound::Tool)
        })
    }

    fn bind(
        self,
        function: Function<(), ToolInfo>,
        namespace: &str,
    ) -> Result<Registered<treenail_schema::Tool>, String> {
        let mut descriptor = self.descriptor;
        let name = full_name("tool", namespace, &descriptor.name)?;
        let checked = self
            .problem
            .and_then(|()| header_params(&descriptor.input_schema).map(drop));
        checked.map_err(|problem| format!("tool `{name}`: {problem}"))?;
        let policy = self.policy.check(&name)?;
        descriptor.name = name;
        declare_task(&mut descriptor, self.task.as_ref());
        let shape = if let Some(schema) = &descriptor.output_schema {
            Shape::of_declared(schema)
        } else {
            let (schema, shape) = declare(function.output_schema);
            descriptor.output_schema = schema.map(Into::into);
            shape
        };
        let bound = Registered::new(descriptor, move |descriptor| {
            function.bind(Arc::new(()), ToolInfo::new(descriptor, shape))
        });
        let bound = bound.with_policy(policy).with_task(self.task);
        Ok(bound.with_scopes(self.scopes))
    }
}
