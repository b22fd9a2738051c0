//! Contracts: one trait, and what is made of it.

#![deny(warnings)]

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use treenail::client::{TypedCall, TypedStream};
use treenail::schema::{CallToolResult, ContentBlock};
use treenail::{Context, Stream, ToolError, mcp_client, mcp_tool, mcp_type};

/// An alias, which is not to be told from what it stands for.
type Fallible<T, E = ToolError> = Result<T, E>;

#[mcp_type]
struct Frame {
    at: u64,
}

/// A type of the user's, which is not polled.
#[mcp_type]
struct Future {
    price: u64,
}

mod parts {
    use treenail::{ToolError, mcp_client};

    #[mcp_client]
    pub(crate) trait Alerts: Sync {
        /// Nothing more is needed.
        fn count(&self) -> Result<u32, ToolError>;
    }
}

/// A contract.
#[mcp_client(namespace = "weather")]
trait Weather {
    async fn frame(&self, cx: &Context, #[arg(default = 1)] at: u64) -> Fallible<Frame>;

    #[tool(blocking)]
    fn at_once(&self, texts: Vec<String>) -> Result<(), fmt::Error> {
        drop(texts);
        Ok(())
    }

    fn frames(&self) -> impl Stream<Item = Fallible<Frame, String>> + Send;

    #[tool(fold = "last", timeout = Duration::from_secs(5))]
    fn blocks(&self, cx: &Context) -> impl Stream<Item = anyhow::Result<ContentBlock>>;

    async fn whole(&self) -> anyhow::Result<CallToolResult>;

    async fn quote(&self) -> Result<Future, Box<dyn Error + Send + Sync>> {
        Ok(Future { price: 1 })
    }

    async fn fails(&self, early: bool) -> Result<u8, Box<dyn Error + Send + Sync>> {
        if early {
            return Err(Box::new(fmt::Error));
        }
        Err(Box::new(fmt::Error))
    }

    async fn mcp_calls(&self) -> Result<(), ToolError> {
        Ok(())
    }

    #[namespace(name = "2d")]
    fn _2d(&self) -> &impl parts::Alerts;

    #[namespace]
    fn alerts(&self) -> &impl parts::Alerts;

    #[cfg(any())]
    #[namespace]
    fn nothing(&self) -> &impl Nothing;
}

#[derive(Clone, Debug)]
struct Station(Board);

#[derive(Clone, Debug)]
struct Board;

#[mcp_tool]
impl Weather for Station {
    async fn frame(&self, cx: &Context, at: u64) -> Fallible<Frame> {
        let _ = cx;
        Ok(Frame { at })
    }

    fn frames(&self) -> impl Stream<Item = Fallible<Frame, String>> + Send {
        tokio_stream::iter([Ok(Frame { at: 1 })])
    }

    fn blocks(&self, cx: &Context) -> impl Stream<Item = anyhow::Result<ContentBlock>> {
        let _ = cx;
        tokio_stream::iter([Ok("a".into())])
    }

    async fn whole(&self) -> anyhow::Result<CallToolResult> {
        Ok(CallToolResult::new(Vec::new()))
    }

    fn _2d(&self) -> &Board {
        &self.0
    }

    fn alerts(&self) -> &Board {
        &self.0
    }
}

#[mcp_tool]
impl parts::Alerts for Board {
    fn count(&self) -> Result<u32, ToolError> {
        Ok(0)
    }
}

/// One that is mounted by another way than `#[mcp_tool]` implements the trait as it is.
struct Other(Arc<Board>);

impl Weather for Other {
    type Part2d = Board;
    type Alerts = Board;

    async fn frame(&self, _: &Context, at: u64) -> Fallible<Frame> {
        Ok(Frame { at })
    }

    fn frames(&self) -> impl Stream<Item = Fallible<Frame, String>> {
        tokio_stream::empty()
    }

    fn blocks(&self, _: &Context) -> impl Stream<Item = anyhow::Result<ContentBlock>> {
        tokio_stream::empty()
    }

    async fn whole(&self) -> anyhow::Result<CallToolResult> {
        Ok(CallToolResult::new(Vec::new()))
    }

    fn _2d(&self) -> &Board {
        &self.0
    }

    fn alerts(&self) -> &Board {
        &self.0
    }
}

fn send<T: Send + 'static>(_: T) {}

fn agent(weather: &WeatherClient) {
    let call: TypedCall<Frame> = weather.frame(1);
    send(call.into_future());
    let frames: TypedStream<Frame> = weather.frames();
    send(frames);
    let alerts: parts::AlertsClient = weather.alerts();
    send(alerts.count());
}

pub(crate) fn main() {
    let server = treenail::server!().mount(Station(Board)).build();
    assert!(server.is_ok(), "{:?}", server.err());
    let _ = (
        agent,
        Other,
        MockWeather::new().on_frame(|at| Ok(Frame { at })),
    );
}
