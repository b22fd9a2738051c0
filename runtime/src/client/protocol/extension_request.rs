//! Requests of extensions: methods by name, with types of the caller.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use treenail_schema::{EmptyResult, JsonObject, ProgressNotificationParams, Request};

use crate::client::ClientError;
use crate::client::protocol::inner::Inner;
use crate::client::protocol::params::Params;
use crate::client::protocol::progress::ProgressStream;
use crate::client::protocol::request::ClientRequest;
use crate::client::protocol::result::read;
use crate::wire::as_string;

/// Any request. Its method and its types are values of an [`ExtensionRequest`].
#[derive(Debug)]
pub(super) enum AnyRequest {}

impl Request for AnyRequest {
    const METHOD: &'static str = "";
    type Params = JsonObject;
    type Result = EmptyResult;
    type Response = EmptyResult;
}

/// Request for a method of an extension, sent when it is awaited, with a result of type `R`.
///
/// # Errors
///
/// [`ClientError::Unsupported`] if the server has not declared the extension; nothing is sent then. Any other [`ClientError`].
///
/// # Cancellation
///
/// Dropping the future cancels the request on the server.
#[must_use = "a request is sent when it is awaited"]
pub struct ExtensionRequest<R> {
    method: Box<str>,
    request: ClientRequest<AnyRequest>,
    result: PhantomData<fn() -> R>,
}

impl<R> ExtensionRequest<R> {
    pub(super) fn new(
        inner: &Arc<Inner>,
        (extension, method): (&str, &str),
        params: &impl Serialize,
    ) -> Self {
        Self {
            method: method.into(),
            request: ClientRequest::of_extension(inner, (extension, method), Params::new(params)),
            result: PhantomData,
        }
    }

    /// Repeats a member of the parameters, a string, in the HTTP header `Mcp-Name` (2026-07-28), as the extension may require.
    /// Other transports ignore it.
    pub fn name_header(mut self, member: &str) -> Self {
        self.request.prepared.edit_template(|template| {
            let text = template.params.member(member).and_then(as_string);
            let text = text.ok_or_else(|| {
                ClientError::invalid(format!("the parameters have no string `{member}`"))
            })?;
            template.name_header = Some(text.into_owned());
            Ok(())
        });
        self
    }

    /// Sets the timeout; see [`ClientRequest::timeout`].
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.request = self.request.timeout(timeout);
        self
    }

    /// Restarts the timeout with each progress notification; see [`ClientRequest::reset_timeout_on_progress`].
    pub fn reset_timeout_on_progress(mut self, max_duration: Duration) -> Self {
        self.request = self.request.reset_timeout_on_progress(max_duration);
        self
    }

    /// Requests progress and passes it to a function; see [`ClientRequest::on_progress`].
    pub fn on_progress(
        mut self,
        sink: impl Fn(ProgressNotificationParams) + Send + Sync + 'static,
    ) -> Self {
        self.request = self.request.on_progress(sink);
        self
    }

    /// Requests progress as a stream; see [`ClientRequest::progress`].
    pub fn progress(mut self) -> (ProgressStream, Self) {
        let (stream, request) = self.request.progress();
        self.request = request;
        (stream, self)
    }

    /// Adds a member to the `_meta` of the request.
    pub fn meta(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.request = self.request.meta(key, value);
        self
    }
}

impl<R: DeserializeOwned + 'static> IntoFuture for ExtensionRequest<R> {
    type Output = Result<R, ClientError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        let prepared = self.request.prepared;
        Box::pin(async move { read(&prepared.send().await?.text) })
    }
}

impl<R> fmt::Debug for ExtensionRequest<R> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ExtensionRequest")
            .field("method", &self.method)
            .finish_non_exhaustive()
    }
}
