//! States with generic parameters: types, lifetimes, constants and bounds.

use std::fmt::{Debug, Display};
use std::sync::Mutex;

use treenail::prelude::*;

/// State with a borrowed value.
#[derive(Debug)]
pub struct Borrowing<'a, T: ?Sized> {
    /// Borrowed value.
    pub value: &'a T,
}

#[mcp_tool(namespace = "borrowing")]
impl<'a, T> Borrowing<'a, T>
where
    T: AsRef<str> + Sync + ?Sized,
{
    #[tool]
    async fn later(&self, _cx: &Context, times: usize) -> String {
        std::future::ready(self.value.as_ref().repeat(times)).await
    }

    #[tool]
    fn now(&self) -> &'a str {
        self.value.as_ref()
    }

    #[tool]
    fn stream(&self) -> impl Stream<Item = String> {
        tokio_stream::once(self.value.as_ref().to_owned())
    }

    #[prompt]
    fn prompt(&self, #[arg(complete = Self::values)] value: String) -> String {
        format!("{}{value}", self.value.as_ref())
    }

    #[resource("borrowing://{value}")]
    async fn resource(&self, value: String) -> String {
        std::future::ready(value + self.value.as_ref()).await
    }

    fn values(&self, typed: &str) -> Vec<String> {
        vec![typed.to_owned() + self.value.as_ref()]
    }
}

/// State with an anonymous lifetime.
#[derive(Debug)]
pub struct Unnamed<'a>(pub &'a str);

#[mcp_tool(namespace = "unnamed")]
impl Unnamed<'_> {
    #[tool]
    async fn text(&self) -> &str {
        std::future::ready(self.0).await
    }
}

/// State whose type parameter has bounds only on the block.
#[derive(Debug)]
pub struct Stored<T, const N: usize>(pub Mutex<[T; N]>);

#[mcp_tool(namespace = "stored")]
impl<T: Display, const N: usize> Stored<T, N> {
    #[tool]
    fn first(&self) -> Option<String> {
        let values = self.0.lock().ok()?;
        values.first().map(ToString::to_string)
    }

    #[tool]
    async fn count(&self) -> usize {
        std::future::ready(N).await
    }
}
