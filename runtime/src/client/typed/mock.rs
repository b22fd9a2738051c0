//! Content of the mock of a trait.

use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use futures_core::Stream;
use serde_json::Value;

use crate::client::McpClient;
use crate::definition::Mount;
use crate::error::Result;
use crate::server::Server;
use crate::tool::ToolDefinition;
use crate::typed_contract::Arguments;

/// Call that a mock received.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct MockCall {
    /// The name of the tool, without its namespace.
    pub tool: &'static str,
    /// The arguments as JSON, including those with a default.
    pub arguments: Value,
}

/// Calls that a mock received; clones share them.
#[derive(Clone, Debug, Default)]
pub struct MockCalls(Arc<Mutex<Vec<MockCall>>>);

impl MockCalls {
    /// Creates an empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// Records a call.
    pub fn record(&self, tool: &'static str, arguments: &Arguments) {
        // Arguments that arrive as JSON can always be serialized.
        let arguments = serde_json::to_value(arguments).unwrap_or_default();
        let mut calls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        calls.push(MockCall { tool, arguments });
    }

    /// Returns all calls, oldest first.
    pub fn all(&self) -> Vec<MockCall> {
        let calls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        calls.clone()
    }
}

/// Connects a client to an in-memory server that contains only the mock.
///
/// # Errors
///
/// When the server cannot be built or the connection fails.
pub async fn connect(mock: impl Mount) -> Result<McpClient> {
    let server = Server::builder("mock", "0.0.0").mount(mock).build()?;
    Ok(McpClient::builder().server(&server).build().await?)
}

/// Client of a trait, which determines the mock of the same trait.
pub trait ClientOf {
    /// The mock.
    type Mock: Mocked;
}

/// Mock of a trait, with its registered answers.
pub trait Mocked {
    /// Creates a mock without answers.
    fn empty() -> Self;

    /// Returns the error message for a tool without an answer.
    fn missing(&self, tool: &str) -> Option<String>;
}

/// Wraps the tools of a mock so that a call without an answer fails with a helpful message.
pub fn fail_without_answer<S: Mocked + Send + Sync + 'static>(
    tools: Vec<ToolDefinition<S>>,
) -> Vec<ToolDefinition<S>> {
    let guard = |mut tool: ToolDefinition<S>| {
        let name = tool.metadata.name.clone();
        tool.function = tool.function.fail_if(move |mock| mock.missing(&name));
        tool
    };
    tools.into_iter().map(guard).collect()
}

/// Returns the error message for a method without an answer.
pub fn missing_answer(mock: &str, method: &str) -> String {
    format!("`{mock}` has no answer for `{method}`; set one with `on_{method}(…)`")
}

/// Reports a missing answer in a direct call of a mock, without a server.
///
/// # Panics
///
/// Always, since the type of the method's error is not known.
#[track_caller]
pub fn panic_without_answer(mock: &str, method: &str) -> ! {
    panic!("{}", missing_answer(mock, method))
}

/// Stream of the items that a mock returns.
pub struct MockStream<T>(Box<dyn Iterator<Item = T> + Send>);

impl<T> MockStream<T> {
    /// Creates a stream of available items.
    pub fn new<I>(items: I) -> Self
    where
        I: IntoIterator<Item = T>,
        I::IntoIter: Send + 'static,
    {
        Self(Box::new(items.into_iter()))
    }
}

impl<T> Stream for MockStream<T> {
    type Item = T;

    fn poll_next(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<T>> {
        Poll::Ready(self.get_mut().0.next())
    }
}

impl<T> fmt::Debug for MockStream<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("MockStream").finish_non_exhaustive()
    }
}
