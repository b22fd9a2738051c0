//! Completion: values proposed for an argument while it is typed.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::sync::Arc;

use serde_json::{Map, Value};
use treenail_schema::{CompleteRequestParams, Completion};

use crate::call::Call;
use crate::function::argument::ArgumentList;
use crate::function::argument_error::{Fault, Problem};
use crate::function::kind;
use crate::function::run::panic_error;
use crate::function::{FeatureKind, Function, Output};
use crate::respond::{Handler, ResultWriter};
use crate::wire::RpcError;

/// The most values that the protocol allows in one answer.
const MOST: usize = 100;

/// What has been typed of an argument so far, and the other arguments that are known.
///
/// A function that `#[arg(complete = …)]` names takes it by reference, or else `&str`, the text alone:
///
/// ```
/// use treenail_runtime::CompletionRequest;
///
/// fn cities(typed: &CompletionRequest) -> Vec<&'static str> {
///     let cities = match typed.other("country") {
///         Some("Norway") => vec!["Bergen", "Oslo"],
///         _ => vec!["Bergen", "Oslo", "Paris"],
///     };
///     cities.into_iter().filter(|city| city.starts_with(typed.text())).collect()
/// }
/// ```
#[derive(Debug)]
pub struct CompletionRequest {
    text: String,
    others: BTreeMap<String, String>,
}

impl CompletionRequest {
    /// What has been typed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The value of another argument, if the client tells it; clients before revision 2025-06-18 tell none.
    pub fn other(&self, argument: &str) -> Option<&str> {
        self.others.get(argument).map(String::as_str)
    }
}

/// What a function that proposes values may take: `&str` or [`&CompletionRequest`](CompletionRequest).
#[diagnostic::on_unimplemented(
    message = "a completion cannot take `&{Self}`",
    label = "expected a function of `&str` or `&CompletionRequest`"
)]
pub trait FromCompletionRequest {
    /// Takes it from what has been typed.
    fn from_request(typed: &CompletionRequest) -> &Self;
}

#[diagnostic::do_not_recommend]
impl FromCompletionRequest for str {
    fn from_request(typed: &CompletionRequest) -> &Self {
        typed.text()
    }
}

#[diagnostic::do_not_recommend]
impl FromCompletionRequest for CompletionRequest {
    fn from_request(typed: &CompletionRequest) -> &Self {
        typed
    }
}

/// What a function that proposes values may return: anything to iterate over whose items turn into `String`, or a future
/// of it; best first. The first 100 are sent.
///
/// The parameter `K` tells the two apart and is always inferred.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the output of a completion",
    label = "expected values, such as `Vec<String>`",
    note = "return a `Vec<String>`, an iterator over texts, or a future of either"
)]
pub trait IntoCompletions<K>: Sized {
    /// The values, as far as they are sent.
    fn into_completions(self) -> impl Future<Output = Completion> + Send;
}

#[diagnostic::do_not_recommend]
impl<T> IntoCompletions<kind::Now> for T
where
    T: IntoIterator<Item: Into<String>>,
{
    fn into_completions(self) -> impl Future<Output = Completion> + Send {
        std::future::ready(first(self))
    }
}

#[diagnostic::do_not_recommend]
impl<F> IntoCompletions<kind::Later> for F
where
    F: Future<Output: IntoIterator<Item: Into<String>>> + Send,
{
    async fn into_completions(self) -> Completion {
        first(self.await)
    }
}

fn first(values: impl IntoIterator<Item: Into<String>>) -> Completion {
    let mut values = values.into_iter();
    let total = match values.size_hint() {
        (low, Some(high)) if low == high => i64::try_from(low).ok(),
        _ => None,
    };
    let first: Vec<String> = values.by_ref().take(MOST).map(Into::into).collect();
    let more = values.next().is_some();
    let mut completion = Completion::new(first).with_has_more(more);
    completion.total = total;
    completion
}

/// What proposes values for an argument of a prompt or resource of the state `S`.
pub struct Completer<S>(Function<S, CompleterInfo>);

impl<S> fmt::Debug for Completer<S> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Completer").finish()
    }
}

impl<S: Send + Sync + 'static> Completer<S> {
    /// One that does what `body` does.
    pub fn new<B, F>(body: B) -> Self
    where
        B: Fn(Arc<S>, CompletionRequest) -> F + Send + Sync + 'static,
        F: Future<Output = Completion> + Send + 'static,
    {
        let output = Output {
            schema: |_| None,
            write: |completion, _, (), result| {
                write(&completion, result);
                Ok(())
            },
        };
        let run = move |state, (): (), typed| body(state, typed);
        Self(Function::asynchronous(TypedArgument, output, run))
    }

    /// The same on an `Arc` of its state.
    pub(crate) fn shared(self) -> Completer<Arc<S>> {
        Completer(self.0.shared())
    }

    pub(crate) fn bind(self, argument: &'static str, state: &Arc<S>) -> Handler {
        self.0.bind(Arc::clone(state), CompleterInfo { argument })
    }
}

/// Answers for an argument that nothing proposes values for.
pub(crate) fn nothing() -> Handler {
    Box::new(|_, result| {
        write(&Completion::new([]), result);
        Ok(None)
    })
}

fn write(completion: &Completion, result: &mut ResultWriter<'_>) {
    result.push(br#"{"completion":"#);
    result.value(completion);
    result.end(None);
}

/// The parameters of `completion/complete`, as the one argument of a function.
struct TypedArgument;

impl ArgumentList for TypedArgument {
    type Values = CompletionRequest;

    fn schema(&self) -> Result<Map<String, Value>, String> {
        Ok(Map::new())
    }

    fn read(&self, params: Option<&str>) -> Result<CompletionRequest, Vec<Problem>> {
        let params = params.and_then(|params| serde_json::from_str(params).ok());
        // The server has read them already, or it would not know whom to ask.
        let params: CompleteRequestParams =
            params.ok_or_else(|| vec![Problem::new("argument", Fault::Missing)])?;
        let context = params.context.unwrap_or_default();
        Ok(CompletionRequest {
            text: params.argument.value,
            others: context.arguments.unwrap_or_default(),
        })
    }
}

/// What a request needs to know of what proposes values.
#[derive(Debug)]
pub struct CompleterInfo {
    argument: &'static str,
}

impl FeatureKind for CompleterInfo {
    type Details = ();
    type WriteContext = ();

    fn write_context(_: &Call<'_>) {}

    fn reject(&self, _: &[Problem], _: &mut ResultWriter<'_>) -> Result<(), RpcError> {
        let message = "`params` is not what `completion/complete` takes";
        Err(RpcError::invalid_params(message))
    }

    fn on_panic(&self, message: &str, _: &mut ResultWriter<'_>) -> Result<(), RpcError> {
        Err(panic_error("completion of", self.argument, message))
    }
}
