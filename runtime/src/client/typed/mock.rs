//! What is inside of the mock of a trait.

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

/// A call that a mock has got.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct MockCall {
    /// The name of the tool, without its namespace.
    pub tool: &'static str,
    /// The arguments as JSON, those that have a default included.
    pub arguments: Value,
}

/// The calls that a mock has got; its clones share them.
#[derive(Clone, Debug, Default)]
pub struct MockCalls(Arc<Mutex<Vec<MockCall>>>);

impl MockCalls {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Notes a call.
    pub fn note(&self, tool: &'static str, arguments: &Arguments) {
        // What cannot be written as JSON has not come as JSON.
        let arguments = serde_json::to_value(arguments).unwrap_or_default();
        let mut calls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        calls.push(MockCall { tool, arguments });
    }

    /// All calls, oldest first.
    pub fn all(&self) -> Vec<MockCall> {
        let calls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        calls.clone()
    }
}

/// A client of a server in memory that has nothing but the mock.
///
/// # Errors
///
/// When the server cannot be built.
pub async fn connect(mock: impl Mount) -> Result<McpClient> {
    let server = Server::builder("mock", "0.0.0").mount(mock).build()?;
    Ok(McpClient::builder().server(&server).build().await?)
}

/// The client of a trait, which leads to the mock of the same trait.
pub trait ClientOf {
    /// The mock.
    type Mock: Mocked;
}

/// The mock of a trait, and what it knows of its answers.
pub trait Mocked {
    /// One that answers nothing yet.
    fn empty() -> Self;

    /// Why a tool cannot be called, if it cannot.
    fn missing(&self, tool: &str) -> Option<String>;
}

/// The tools of a mock: what it has no answer to fails, and says so.
pub fn mocked<S: Mocked + Send + Sync + 'static>(
    tools: Vec<ToolDefinition<S>>,
) -> Vec<ToolDefinition<S>> {
    let guard = |mut tool: ToolDefinition<S>| {
        let name = tool.metadata.name.clone();
        tool.function = tool.function.fail_if(move |mock| mock.missing(&name));
        tool
    };
    tools.into_iter().map(guard).collect()
}

/// What is said where a mock has no answer.
pub fn missing(mock: &str, method: &str) -> String {
    format!("`{mock}` has no answer to `{method}`; give one with `on_{method}(…)`")
}

/// Ends a call of a mock itself, without a server, that it has no answer to.
///
/// # Panics
///
/// Always, since the type of the method's error is not known.
#[track_caller]
pub fn unanswered(mock: &str, method: &str) -> ! {
    panic!("{}", missing(mock, method))
}

/// The items that a mock streams.
pub struct MockStream<T>(Box<dyn Iterator<Item = T> + Send>);

impl<T> MockStream<T> {
    /// A stream of items that are all there.
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
