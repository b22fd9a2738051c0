//! Completion: suggested values for an argument that a user is typing.

mod listed;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::sync::Arc;

use serde_json::{Map, Value};
use treenail_schema::{CompleteRequestParams, Completion};

pub(crate) use self::listed::listed_completers;
use crate::call::Call;
use crate::function::argument::ArgumentList;
use crate::function::argument_error::{Fault, Problem};
use crate::function::kind;
use crate::function::run::panic_error;
use crate::function::{FeatureKind, Function, Output};
use crate::handler::Handler;
use crate::result_writer::ResultWriter;
use crate::wire::RpcError;

/// Maximum number of values in a response, set by the protocol.
const MAX_VALUES: usize = 100;

/// The partial value of an argument, and the other arguments that are known.
///
/// A function that `#[arg(complete = …)]` names takes it by reference. Alternatively it takes `&str`, only the partial
/// value:
///
/// ```
/// use treenail::completion::CompletionRequest;
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
    /// Returns the partial value.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the value of another argument, if the client sent it. Clients before revision 2025-06-18 never do.
    pub fn other(&self, argument: &str) -> Option<&str> {
        self.others.get(argument).map(String::as_str)
    }

    /// Returns the names and values of all other arguments that the client sent, in the order of their names.
    pub fn others(&self) -> impl Iterator<Item = (&str, &str)> {
        let others = self.others.iter();
        others.map(|(name, value)| (&**name, &**value))
    }
}

/// A parameter type of completion functions: `&str` or [`&CompletionRequest`](CompletionRequest).
#[diagnostic::on_unimplemented(
    message = "a completion cannot take `&{Self}`",
    label = "expected a function of `&str` or `&CompletionRequest`"
)]
pub trait FromCompletionRequest {
    /// Converts the request.
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

/// A return type of completion functions: any iterable whose items convert to `String`, or a future of one.
///
/// The best values are first; the first 100 are sent. The parameter `K` distinguishes the implementations and is always
/// inferred.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the output of a completion",
    label = "expected values, such as `Vec<String>`",
    note = "return a `Vec<String>`, an iterator over strings, or a future of either"
)]
pub trait IntoCompletions<K>: Sized {
    /// Collects the values that are sent.
    fn into_completions(self) -> impl Future<Output = Completion> + Send;
}

#[diagnostic::do_not_recommend]
impl<T> IntoCompletions<kind::Immediate> for T
where
    T: IntoIterator<Item: Into<String>>,
{
    fn into_completions(self) -> impl Future<Output = Completion> + Send {
        std::future::ready(first_values(self))
    }
}

#[diagnostic::do_not_recommend]
impl<F> IntoCompletions<kind::Deferred> for F
where
    F: Future<Output: IntoIterator<Item: Into<String>>> + Send,
{
    async fn into_completions(self) -> Completion {
        first_values(self.await)
    }
}

fn first_values(values: impl IntoIterator<Item: Into<String>>) -> Completion {
    let mut values = values.into_iter();
    let total = match values.size_hint() {
        (low, Some(high)) if low == high => i64::try_from(low).ok(),
        _ => None,
    };
    let first: Vec<String> = values.by_ref().take(MAX_VALUES).map(Into::into).collect();
    let more = values.next().is_some();
    let mut completion = Completion::new(first).with_has_more(more);
    completion.total = total;
    completion
}

/// Completion function for an argument of a prompt or resource of the state `S`.
pub struct Completer<S>(Function<S, CompleterInfo>);

impl<S> fmt::Debug for Completer<S> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Completer").finish()
    }
}

impl<S: Send + Sync + 'static> Completer<S> {
    /// Creates a completer that runs `body`.
    pub fn new<B, F>(body: B) -> Self
    where
        B: Fn(Arc<S>, CompletionRequest) -> F + Send + Sync + 'static,
        F: Future<Output = Completion> + Send + 'static,
    {
        let output = Output {
            schema: |_| None,
            write: write_result,
        };
        let run = move |state, (): (), typed| body(state, typed);
        Self(Function::asynchronous(TypedArgument, output, run))
    }

    /// Converts the completer to one on an `Arc` of its state.
    pub(crate) fn shared(self) -> Completer<Arc<S>> {
        Completer(self.0.shared())
    }

    /// Returns the argument with its handler.
    pub(crate) fn bind(
        self,
        argument: impl Into<Cow<'static, str>>,
        state: &Arc<S>,
    ) -> (Cow<'static, str>, Handler) {
        let argument = argument.into();
        let info = CompleterInfo {
            argument: argument.clone(),
        };
        (argument, self.0.bind(Arc::clone(state), info))
    }
}

/// Creates the handler of arguments without completion, which returns no values.
pub(crate) fn empty_handler() -> Handler {
    Box::new(|_, result| {
        write(&Completion::new([]), result);
        Ok(None)
    })
}

#[expect(
    clippy::needless_pass_by_value,
    clippy::unnecessary_wraps,
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature is that of every kind of function"
)]
#[inline]
fn write_result(
    completion: Completion,
    _: &CompleterInfo,
    (): &(),
    result: &mut ResultWriter<'_>,
) -> Result<(), RpcError> {
    write(&completion, result);
    Ok(())
}

fn write(completion: &Completion, result: &mut ResultWriter<'_>) {
    result.push(br#"{"completion":"#);
    result.value(completion);
    result.end(None);
}

/// The parameters of `completion/complete`, as a single argument.
struct TypedArgument;

impl ArgumentList for TypedArgument {
    type Values = CompletionRequest;

    fn schema(&mut self) -> Result<Map<String, Value>, String> {
        Ok(Map::new())
    }

    #[inline]
    fn read(&self, params: Option<&str>) -> Result<CompletionRequest, Vec<Problem>> {
        let params = params.and_then(|params| serde_json::from_str(params).ok());
        // The server has already parsed the parameters in order to find the completer.
        let params: CompleteRequestParams =
            params.ok_or_else(|| vec![Problem::new("argument", Fault::Missing)])?;
        let context = params.context.unwrap_or_default();
        Ok(CompletionRequest {
            text: params.argument.value,
            others: context.arguments.unwrap_or_default(),
        })
    }
}

/// Information about a completer that its requests need.
#[derive(Debug)]
pub struct CompleterInfo {
    pub(crate) argument: Cow<'static, str>,
}

impl FeatureKind for CompleterInfo {
    type Details = ();
    type WriteContext = ();

    fn write_context(_: &Call<'_>) {}

    fn reject(
        &self,
        _: &[Problem],
        _: Option<&str>,
        _: &mut ResultWriter<'_>,
    ) -> Result<(), RpcError> {
        let message = "invalid `params` for `completion/complete`";
        Err(RpcError::invalid_params(message))
    }

    fn on_panic(&self, message: &str, _: &mut ResultWriter<'_>) -> Result<(), RpcError> {
        Err(panic_error("completion of", &self.argument, message))
    }
}
