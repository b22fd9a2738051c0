//! Streams: where they come from, what they borrow, what they are made of.

#![deny(warnings)]

use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::time::Duration;

use tokio_stream::StreamExt;
use tokio_stream::wrappers::ReceiverStream;
use treenail::schema::ContentBlock;
use treenail::server::Mount;
use treenail::{Context, Stream, mcp_tool, mcp_type, tools};

/// A picture of the radar.
#[mcp_type]
struct Frame {
    at: u64,
}

type BoxStream<'a, T> = Pin<Box<dyn Stream<Item = T> + Send + 'a>>;

/// An alias, which is not to be told from what it stands for.
type Fallible<T> = Result<T, fmt::Error>;

#[mcp_tool]
fn count(to: u32) -> impl Stream<Item = u32> {
    tokio_stream::iter(0..to)
}

#[mcp_tool(timeout = Duration::from_secs(5))]
fn count_for_a_while() -> impl Stream<Item = u32> {
    tokio_stream::iter(0..)
}

mod named_like_a_stream {
    use std::error::Error;

    use treenail::mcp_type;

    #[mcp_type]
    pub(super) struct Stream {
        id: u64,
    }

    /// A type of the user's, beside a `dyn` that is none of it.
    #[treenail::mcp_tool]
    pub(super) async fn start() -> Result<Stream, Box<dyn Error + Send + Sync>> {
        Ok(Stream { id: 1 })
    }
}

#[mcp_tool(fold = "last")]
async fn frames(cx: &Context, city: String) -> Fallible<impl Stream<Item = Fallible<Frame>>> {
    let _ = (city, cx);
    Ok(tokio_stream::iter([Ok(Frame { at: 1 })]))
}

#[mcp_tool(stream)]
fn boxed() -> BoxStream<'static, Result<String, String>> {
    Box::pin(tokio_stream::iter([Ok(String::new())]))
}

#[mcp_tool(fold = "concat")]
fn boxed_or_not() -> Fallible<BoxStream<'static, Result<i64, String>>> {
    Ok(Box::pin(tokio_stream::iter([Ok(1)])))
}

#[mcp_tool]
fn unnamed() -> Box<dyn Stream<Item = ContentBlock> + Send + Unpin> {
    Box::new(tokio_stream::iter([ContentBlock::text("a")]))
}

/// A trait of the user's, whose name says nothing.
trait Numbers: Stream<Item = u8> {}

impl<S: Stream<Item = u8>> Numbers for S {}

#[mcp_tool(stream)]
fn numbers() -> impl Numbers {
    tokio_stream::iter([1])
}

#[mcp_tool(stream)]
async fn received() -> ReceiverStream<Frame> {
    ReceiverStream::new(tokio::sync::mpsc::channel(1).1)
}

struct Radar<P> {
    places: Vec<P>,
}

#[mcp_tool(namespace = "radar")]
impl<P: fmt::Display + Send + Sync + 'static> Radar<P> {
    #[tool(read_only)]
    fn frames(&self, cx: &Context, from: u64) -> impl Stream<Item = Result<Frame, fmt::Error>> {
        let places = tokio_stream::iter(&self.places);
        places.map(move |place| {
            let _ = (place.to_string(), cx.request_id());
            Ok(Frame { at: from })
        })
    }

    #[tool(stream)]
    fn places(&self) -> BoxStream<'_, String> {
        Box::pin(tokio_stream::iter(&self.places).map(P::to_string))
    }

    #[tool(stream = true, fold = "collect")]
    async fn tail(
        &self,
        cx: &Context,
    ) -> Result<BoxStream<'_, &'static str>, Box<dyn Error + Send + Sync>> {
        let _ = cx.meta();
        Ok(Box::pin(tokio_stream::iter(&self.places).map(|_| "a")))
    }

    #[tool]
    async fn free(&self) -> impl Stream<Item = ()> + use<P> {
        tokio_stream::iter([()])
    }
}

pub(crate) fn main() {
    fn count_tools<M: Mount>(_: &M) -> usize {
        M::tools().len()
    }
    let _ = tools![
        count,
        count_for_a_while,
        named_like_a_stream::start,
        frames,
        boxed,
        boxed_or_not,
        unnamed,
        numbers,
        received
    ];
    assert_eq!(count_tools(&Radar { places: vec![1] }), 4);
}
