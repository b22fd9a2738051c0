//! States with parameters: types, lifetimes, numbers, conditions.

use std::fmt::{Debug, Display};
use std::sync::Mutex;

use treenail::prelude::*;

/// Borrows for as long as the program runs, or for less.
#[derive(Debug)]
pub struct Borrowing<'a, T: ?Sized> {
    /// What is borrowed.
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

/// Borrows what has no name.
#[derive(Debug)]
pub struct Unnamed<'a>(pub &'a str);

#[mcp_tool(namespace = "unnamed")]
impl Unnamed<'_> {
    #[tool]
    async fn text(&self) -> &str {
        std::future::ready(self.0).await
    }
}

/// Says nothing of its parameters that the functions do not need.
#[derive(Debug)]
pub struct Kept<T, const N: usize>(pub Mutex<[T; N]>);

#[mcp_tool(namespace = "kept")]
impl<T: Display, const N: usize> Kept<T, N> {
    #[tool]
    fn first(&self) -> Option<String> {
        let kept = self.0.lock().ok()?;
        kept.first().map(ToString::to_string)
    }

    #[tool]
    async fn count(&self) -> usize {
        std::future::ready(N).await
    }
}
