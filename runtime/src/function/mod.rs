//! The function behind a tool, a prompt, a resource or a completion: its arguments are read, it runs, and its output is
//! written; what it is for decides the rest.

pub(crate) mod argument;
pub(crate) mod bounds;
pub(crate) mod expected;
pub mod kind;
pub(crate) mod problem;
pub(crate) mod run;
pub(crate) mod schema;
pub(crate) mod text;

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use schemars::SchemaGenerator;
use serde_json::{Map, Value};

use crate::call::{Call, CallValue};
use crate::function::argument::ArgumentList;
use crate::function::problem::Problem;
use crate::function::run::{Running, blocking, guard};
use crate::handler::{Handler, PendingResult};
use crate::result_writer::ResultWriter;
use crate::wire::RpcError;

/// What a function is for: what is told of it, and what becomes of a request that does not get as far as its output.
///
/// A value of it is what such a request needs to know of the function.
pub trait Purpose: Send + Sync + 'static {
    /// What is told beside what [`Head`](crate::definition::Head) has for all.
    type Details: fmt::Debug + Default;

    /// What of the call is needed to write the output.
    type Subject: Send + 'static;

    /// Takes it from the call.
    fn subject(call: &Call<'_>) -> Self::Subject;

    /// Answers a request whose arguments are wrong.
    fn reject(&self, problems: &[Problem], result: &mut ResultWriter<'_>) -> Result<(), RpcError>;

    /// Answers a request whose function panicked.
    fn panicked(&self, message: &str, result: &mut ResultWriter<'_>) -> Result<(), RpcError>;
}

/// How an output is described and written.
///
/// It carries what it needs of `T` as functions, so that the bounds on `T` are asked for in one place only.
pub struct Output<T, P: Purpose> {
    pub(crate) schema: OutputSchema,
    pub(crate) write: fn(T, &P, &P::Subject, &mut ResultWriter<'_>) -> Result<(), RpcError>,
}

/// The JSON schema of an output, or `None` if it has none.
pub(crate) type OutputSchema = fn(&mut SchemaGenerator) -> Option<Value>;

impl<T, P: Purpose> Clone for Output<T, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, P: Purpose> Copy for Output<T, P> {}

impl<T, P: Purpose> fmt::Debug for Output<T, P> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Output").finish_non_exhaustive()
    }
}

/// A function on the state `S`, with its types behind it.
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

impl<S: Send + Sync + 'static, P: Purpose> Function<S, P> {
    /// A function that answers at once; it runs on the thread of the session.
    pub fn synchronous<A, C, T, B>(arguments: A, output: Output<T, P>, body: B) -> Self
    where
        A: ArgumentList,
        C: CallValue,
        T: 'static,
        B: Fn(&Arc<S>, C, A::Values) -> T + Send + Sync + 'static,
    {
        Self::new(
            arguments,
            output,
            move |state, facts, call, values, result| {
                let context = C::from_call(call);
                let lifetime = context.lifetime();
                let value = body(state, context, values);
                drop(lifetime);
                (output.write)(value, facts, &P::subject(call), result).map(|()| None)
            },
        )
    }

    /// A function that blocks; it runs on a thread for that.
    pub fn blocking<A, C, T, B>(arguments: A, output: Output<T, P>, body: B) -> Self
    where
        A: ArgumentList<Values: Send>,
        C: CallValue,
        T: Send + 'static,
        B: Fn(Arc<S>, C, A::Values) -> T + Send + Sync + 'static,
    {
        let body = Arc::new(body);
        Self::new(arguments, output, move |state, facts, call, values, _| {
            let (body, state) = (Arc::clone(&body), Arc::clone(state));
            let permits = Arc::clone(call.server.blocking_permits());
            let context = C::from_call(call);
            let (lifetime, permit) = (context.lifetime(), call.permit.cloned());
            let future = blocking(permits, move || {
                let _permit = permit;
                body(state, context, values)
            });
            let subject = P::subject(call);
            Ok(Some(Running::start(
                future,
                output,
                facts,
                (subject, lifetime),
            )))
        })
    }

    /// A function that is asynchronous.
    pub fn asynchronous<A, C, T, B, F>(arguments: A, output: Output<T, P>, body: B) -> Self
    where
        A: ArgumentList,
        C: CallValue,
        T: 'static,
        B: Fn(Arc<S>, C, A::Values) -> F + Send + Sync + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        Self::new(arguments, output, move |state, facts, call, values, _| {
            let context = C::from_call(call);
            let lifetime = context.lifetime();
            let future = body(Arc::clone(state), context, values);
            let subject = P::subject(call);
            Ok(Some(Running::start(
                future,
                output,
                facts,
                (subject, lifetime),
            )))
        })
    }

    fn new<A, T, R>(arguments: A, output: Output<T, P>, run: R) -> Self
    where
        A: ArgumentList,
        R: Fn(
                &Arc<S>,
                &Arc<P>,
                &Call<'_>,
                A::Values,
                &mut ResultWriter<'_>,
            ) -> Result<Option<PendingResult>, RpcError>
            + Send
            + Sync
            + 'static,
    {
        Self {
            input_schema: arguments.schema(),
            output_schema: output.schema,
            bind: Box::new(move |state, facts| {
                Box::new(move |call, result| {
                    let answered = guard(&*facts, result, |result| {
                        match arguments.read(call.target.arguments) {
                            Ok(values) => run(&state, &facts, call, values, result),
                            Err(problems) => facts.reject(&problems, result).map(|()| None),
                        }
                    });
                    answered.unwrap_or_else(|ended| ended.map(|()| None))
                })
            }),
        }
    }

    /// The schema of the object that holds the arguments; it can be taken once.
    pub(crate) fn take_input_schema(&mut self) -> Result<Map<String, Value>, String> {
        std::mem::replace(&mut self.input_schema, Ok(Map::new()))
    }

    /// The same with something around what answers the requests.
    #[cfg(feature = "client")]
    pub(crate) fn map_handler(
        self,
        wrap: impl FnOnce(Arc<S>, Arc<P>, Handler) -> Handler + Send + Sync + 'static,
    ) -> Self {
        let bind = self.bind;
        Self {
            bind: Box::new(move |state, facts| {
                let handler = bind(Arc::clone(&state), Arc::clone(&facts));
                wrap(state, facts, handler)
            }),
            ..self
        }
    }

    /// The same function on an `Arc` of its state.
    pub(crate) fn shared(self) -> Function<Arc<S>, P> {
        let bind = self.bind;
        Function {
            input_schema: self.input_schema,
            output_schema: self.output_schema,
            bind: Box::new(move |state: Arc<Arc<S>>, facts| bind(Arc::clone(&state), facts)),
        }
    }

    /// What answers the requests for the function, run on `state`.
    pub(crate) fn bind(self, state: Arc<S>, facts: P) -> Handler {
        (self.bind)(state, Arc::new(facts))
    }
}
