//! Streaming tools.

mod arrival;
mod reported_items;

use std::fmt;
use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio_stream::StreamExt;
use treenail::client::{ClientError, TypedStream};
use treenail::prelude::*;
use treenail::schema::{ContentBlock, TextContent};

use super::station::Frame;

#[mcp_client]
trait Streams {
    fn frames(&self, to: u32) -> impl Stream<Item = Result<Frame, ToolError>>;
    #[tool(fold = "concat")]
    fn frame_lines(&self, to: u32) -> impl Stream<Item = Result<Frame, ToolError>>;
    #[tool(fold = "last")]
    fn last_frame(&self, to: u32) -> impl Stream<Item = Result<Frame, ToolError>>;
    #[tool(fold = "concat")]
    fn words(&self, to: u32) -> impl Stream<Item = Result<String, ToolError>>;
    fn word_list(&self, to: u32) -> impl Stream<Item = Result<String, ToolError>>;
    #[tool(fold = "last")]
    fn last_word(&self, to: u32) -> impl Stream<Item = Result<String, ToolError>>;
    fn blocks(&self, to: u32) -> impl Stream<Item = Result<ContentBlock, ToolError>>;
    #[tool(fold = "concat")]
    fn blocks_joined(&self, to: u32) -> impl Stream<Item = Result<TextContent, ToolError>>;
    #[tool(fold = "last")]
    fn last_block(&self, to: u32) -> impl Stream<Item = Result<ContentBlock, ToolError>>;
    fn ticks(&self, to: u32) -> impl Stream<Item = Result<(), ToolError>>;
    /// Waits for a permit before each item.
    fn slow(&self, to: u32) -> impl Stream<Item = Result<u32, ToolError>>;
    /// Reports its own progress.
    fn with_progress(&self, cx: &Context) -> impl Stream<Item = Result<u32, ToolError>>;
}

#[derive(Clone)]
struct Source(Arc<Semaphore>);

/// Returns the items 1 to `to`, with a failure in place of 7.
fn items<T>(to: u32, make: fn(u32) -> T) -> impl Stream<Item = Result<T, ToolError>> {
    let item = move |at| match at {
        7 => Err(ToolError::new("seven")),
        at => Ok(make(at)),
    };
    tokio_stream::iter((1..=to).map(item))
}

fn frame(minute: u32) -> Frame {
    Frame { minute }
}

fn word(at: u32) -> String {
    format!("\"w{at}\"\n")
}

#[mcp_tool]
impl Streams for Source {
    fn frames(&self, to: u32) -> impl Stream<Item = Result<Frame, ToolError>> {
        items(to, frame)
    }
    fn frame_lines(&self, to: u32) -> impl Stream<Item = Result<Frame, ToolError>> {
        items(to, frame)
    }
    fn last_frame(&self, to: u32) -> impl Stream<Item = Result<Frame, ToolError>> {
        items(to, frame)
    }
    fn words(&self, to: u32) -> impl Stream<Item = Result<String, ToolError>> {
        items(to, word)
    }
    fn word_list(&self, to: u32) -> impl Stream<Item = Result<String, ToolError>> {
        items(to, word)
    }
    fn last_word(&self, to: u32) -> impl Stream<Item = Result<String, ToolError>> {
        items(to, word)
    }
    fn blocks(&self, to: u32) -> impl Stream<Item = Result<ContentBlock, ToolError>> {
        items(to, |at| word(at).into())
    }
    fn blocks_joined(&self, to: u32) -> impl Stream<Item = Result<TextContent, ToolError>> {
        items(to, |at| TextContent::new(word(at)))
    }
    fn last_block(&self, to: u32) -> impl Stream<Item = Result<ContentBlock, ToolError>> {
        items(to, |at| word(at).into())
    }
    fn ticks(&self, to: u32) -> impl Stream<Item = Result<(), ToolError>> {
        items(to, |_| ())
    }
    fn slow(&self, to: u32) -> impl Stream<Item = Result<u32, ToolError>> {
        let permits = Arc::clone(&self.0);
        tokio_stream::iter(1..=to).then(move |at| {
            let permits = Arc::clone(&permits);
            async move {
                permits.acquire().await?.forget();
                Ok(at)
            }
        })
    }
    fn with_progress(&self, cx: &Context) -> impl Stream<Item = Result<u32, ToolError>> {
        tokio_stream::iter(1..=3).then(move |at| async move {
            if at == 2 {
                cx.progress(50.0).await;
            }
            Ok(at)
        })
    }
}

fn source() -> (Server, Arc<Semaphore>) {
    let permits = Arc::new(Semaphore::new(0));
    let server = treenail::server!().mount(Source(Arc::clone(&permits)));
    (server.build().unwrap(), permits)
}

/// Returns all items, and the error at the end, if any.
async fn all<T: fmt::Debug>(mut stream: TypedStream<T>) -> (Vec<T>, Option<ClientError>) {
    let (mut items, mut end) = (Vec::new(), None);
    while let Some(next) = stream.next().await {
        assert!(end.is_none(), "the error comes last");
        match next {
            Ok(item) => items.push(item),
            Err(error) => end = Some(error),
        }
    }
    assert!(stream.next().await.is_none(), "the end is the end");
    (items, end)
}
