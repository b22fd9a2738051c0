//! The function behind a tool, a prompt, a resource or a completion.
//!
//! It parses the arguments, runs the body and writes the output. A [`FeatureKind`] decides about everything else.

pub(crate) mod argument;
pub(crate) mod argument_error;
pub(crate) mod bounds;
pub(crate) mod default_value;
pub(crate) mod field_type;
pub(crate) mod integral;
pub mod kind;
pub(crate) mod nested_bounds;
pub(crate) mod run;
pub(crate) mod schema;
pub(crate) mod schema_fit;
pub(crate) mod schema_format;
pub(crate) mod schema_hint;
mod stop;
pub(crate) mod submission;
pub(crate) mod text;
pub(crate) mod type_schema;
#[cfg(feature = "schema-validation")]
pub(crate) mod violations;

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use schemars::SchemaGenerator;
use serde_json::{Map, Value};

use crate::call::{Call, CallValue};
use crate::function::argument::ArgumentList;
use crate::function::argument_error::Problem;
use crate::function::run::{Running, RunningCall, blocking, catch_panic, finish};
use crate::function::stop::Started;
use crate::handler::Handler;
use crate::result_writer::ResultWriter;
use crate::wire::RpcError;

/// The kind of feature that a function implements: its metadata, and its responses to failures.
///
/// A value of the type is the information about one feature that its requests need.
pub trait FeatureKind: Send + Sync + 'static {
    /// Metadata beside the part that all kinds share in [`Metadata`](crate::definition::Metadata).
    type Details: fmt::Debug + Default;

    /// Values of the call that are needed to write the output.
    type WriteContext: Send + 'static;

    /// Extracts the context from the call.
    fn write_context(call: &Call<'_>) -> Self::WriteContext;

    /// Responds to a request with invalid arguments. They are given as JSON.
    fn reject(
        &self,
        problems: &[Problem],
        arguments: Option<&str>,
        result: &mut ResultWriter<'_>,
    ) -> Result<(), RpcError>;

    /// Responds to a request whose function panicked.
    fn on_panic(&self, message: &str, result: &mut ResultWriter<'_>) -> Result<(), RpcError>;
}

/// Schema and serialization of an output type.
///
/// Stores the operations on `T` as functions, so only the constructor needs trait bounds on `T`.
pub struct Output<T, P: FeatureKind> {
    pub(crate) schema: OutputSchema,
    pub(crate) write: Write<T, P>,
}

/// Writes a value as the result. A function item needs less code for each type than a closure.
pub(crate) type Write<T, P> =
    fn(T, &P, &<P as FeatureKind>::WriteContext, &mut ResultWriter<'_>) -> Result<(), RpcError>;

/// The JSON schema of an output, or `None` if it has none.
pub(crate) type OutputSchema = fn(&mut SchemaGenerator) -> Option<Value>;

impl<T, P: FeatureKind> Clone for Output<T, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, P: FeatureKind> Copy for Output<T, P> {}

impl<T, P: FeatureKind> fmt::Debug for Output<T, P> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Output").finish_non_exhaustive()
    }
}

/// Runs a function, with its argument and output types erased.
///
/// A trait of its own needs less code for each function than `Fn`, whose trait object has the methods of `FnOnce` too.
trait Run<S, P>: Send + Sync {
    fn run(
        &self,
        state: &Arc<S>,
        info: &Arc<P>,
        call: &Call<'_>,
        result: &mut ResultWriter<'_>,
    ) -> Started;
}

impl<S, P, R> Run<S, P> for R
where
    R: Fn(&Arc<S>, &Arc<P>, &Call<'_>, &mut ResultWriter<'_>) -> Started + Send + Sync,
{
    fn run(
        &self,
        state: &Arc<S>,
        info: &Arc<P>,
        call: &Call<'_>,
        result: &mut ResultWriter<'_>,
    ) -> Started {
        self(state, info, call, result)
    }
}

/// A function on the state `S`, with its argument and output types erased.
pub struct Function<S, P> {
    input_schema: Result<Map<String, Value>, String>,
    pub(crate) output_schema: OutputSchema,
    bind: Box<dyn FnOnce(Arc<S>, Arc<P>) -> Handler + Send + Sync>,
}

impl<S, P> fmt::Debug for Function<S, P> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Function")
            .field("input_schema", &self.input_schema)
            .finish_non_exhaustive()
    }
}

impl<S: Send + Sync + 'static, P: FeatureKind> Function<S, P> {
    /// Creates a synchronous function; it runs on the thread of the session.
    pub fn synchronous<A, C, T, B>(mut arguments: A, output: Output<T, P>, body: B) -> Self
    where
        A: ArgumentList,
        C: CallValue,
        T: 'static,
        B: Fn(&Arc<S>, C, A::Values) -> T + Send + Sync + 'static,
    {
        let schemas = (arguments.schema(), output.schema);
        Self::new(schemas, move |state, info, call, result| {
            let values = arguments.read(call.target.arguments)?;
            let context = C::from_call(call);
            let lifetime = context.lifetime();
            let start = result.mark();
            let value = body(state, context, values);
            let faults = lifetime.end();
            let written = (output.write)(value, info, &P::write_context(call), result);
            finish(written, faults, start, result)?;
            Ok(None)
        })
    }

    /// Creates a blocking function; it runs on a thread for blocking work.
    pub fn blocking<A, C, T, B>(mut arguments: A, output: Output<T, P>, body: B) -> Self
    where
        A: ArgumentList<Values: Send>,
        C: CallValue,
        T: Send + 'static,
        B: Fn(Arc<S>, C, A::Values) -> T + Send + Sync + 'static,
    {
        let body = Arc::new(body);
        let schemas = (arguments.schema(), output.schema);
        Self::new(schemas, move |state, info, call, _| {
            let values = arguments.read(call.target.arguments)?;
            let (context, running) = RunningCall::of::<C>(info, call);
            let (body, state) = (Arc::clone(&body), Arc::clone(state));
            let permit = call.permit.cloned();
            let future = blocking(Arc::clone(call.server.blocking_permits()), move || {
                let _permit = permit;
                body(state, context, values)
            });
            Ok(Some(Running::start(future, output, running)))
        })
    }

    /// Creates an asynchronous function.
    pub fn asynchronous<A, C, T, B, F>(mut arguments: A, output: Output<T, P>, body: B) -> Self
    where
        A: ArgumentList,
        C: CallValue,
        T: 'static,
        B: Fn(Arc<S>, C, A::Values) -> F + Send + Sync + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        let schemas = (arguments.schema(), output.schema);
        Self::new(schemas, move |state, info, call, _| {
            let values = arguments.read(call.target.arguments)?;
            let (context, running) = RunningCall::of::<C>(info, call);
            let future = body(Arc::clone(state), context, values);
            Ok(Some(Running::start(future, output, running)))
        })
    }

    /// Creates a function from its schemas and a closure that parses the arguments and runs the body.
    pub(crate) fn new<R>(
        (input, output): (Result<Map<String, Value>, String>, OutputSchema),
        run: R,
    ) -> Self
    where
        R: Fn(&Arc<S>, &Arc<P>, &Call<'_>, &mut ResultWriter<'_>) -> Started
            + Send
            + Sync
            + 'static,
    {
        Self::erased(input, output, Box::new(run))
    }

    /// Compiled once for all functions on the same state.
    fn erased(
        input_schema: Result<Map<String, Value>, String>,
        output_schema: OutputSchema,
        run: Box<dyn Run<S, P>>,
    ) -> Self {
        Self {
            input_schema,
            output_schema,
            bind: Box::new(move |state, info| {
                Box::new(move |call, result| {
                    let answered = catch_panic(&*info, result, &mut |result| {
                        let started = run.run(&state, &info, call, result);
                        started.or_else(|stop| stop.respond(&*info, call.target.arguments, result))
                    });
                    answered.unwrap_or_else(|ended| ended.map(|()| None))
                })
            }),
        }
    }

    /// Takes the input schema; a second call returns an empty schema.
    pub(crate) fn take_input_schema(&mut self) -> Result<Map<String, Value>, String> {
        std::mem::replace(&mut self.input_schema, Ok(Map::new()))
    }

    /// Wraps the handler of the function.
    #[cfg(feature = "client")]
    pub(crate) fn map_handler(
        self,
        wrap: impl FnOnce(Arc<S>, Arc<P>, Handler) -> Handler + Send + Sync + 'static,
    ) -> Self {
        let bind = self.bind;
        Self {
            bind: Box::new(move |state, info| {
                let handler = bind(Arc::clone(&state), Arc::clone(&info));
                wrap(state, info, handler)
            }),
            ..self
        }
    }

    /// Converts the function to one on an `Arc` of its state.
    pub(crate) fn shared(self) -> Function<Arc<S>, P> {
        let bind = self.bind;
        Function {
            input_schema: self.input_schema,
            output_schema: self.output_schema,
            bind: Box::new(move |state: Arc<Arc<S>>, info| bind(Arc::clone(&state), info)),
        }
    }

    /// Creates the handler that runs the function on `state`.
    pub(crate) fn bind(self, state: Arc<S>, info: P) -> Handler {
        (self.bind)(state, Arc::new(info))
    }
}
