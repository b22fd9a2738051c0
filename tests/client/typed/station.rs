//! Contract and a server that implements it.

use std::sync::Arc;

use tokio::sync::Notify;
use treenail::prelude::*;
use treenail::schema::{ContentBlock, Revision, TextContent};

#[mcp_type]
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Forecast {
    pub(crate) city: String,
    pub(crate) days: Vec<f64>,
}

#[mcp_type]
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Frame {
    pub(crate) minute: u32,
}

/// Contract with all kinds of features.
#[mcp_client(namespace = "weather")]
pub(crate) trait WeatherApi {
    /// Daily forecast for one city.
    #[tool(read_only)]
    async fn forecast(
        &self,
        /// City name
        city: String,
        #[arg(default = 1, range = 1..=7)] days: u8,
    ) -> Result<Forecast, ToolError>;

    /// Frames, oldest first.
    fn radar(&self, minutes: Vec<u32>) -> impl Stream<Item = Result<Frame, ToolError>>;

    /// Asks for confirmation.
    #[tool(destructive)]
    async fn forget(&self, cx: &Context, place: String) -> Result<(), AskError>;

    /// Returns its argument.
    fn echo(&self, text: Option<String>) -> Result<Option<String>, ToolError> {
        Ok(text)
    }

    /// Never ends.
    async fn wait(&self) -> Result<String, ToolError>;

    /// Blocks.
    async fn blocks(&self, count: u32) -> Result<Vec<ContentBlock>, ToolError> {
        Ok((0..count).map(|at| format!("block {at}").into()).collect())
    }

    /// A block.
    async fn block(&self) -> Result<TextContent, ToolError> {
        Ok(TextContent::new("block"))
    }

    /// The part for alerts.
    #[namespace]
    fn alerts(&self) -> &impl AlertsApi;
}

/// Alerts.
#[mcp_client(namespace = "unused")]
pub(crate) trait AlertsApi {
    /// Lists them.
    #[tool(name = "list")]
    async fn all(&self) -> Result<Vec<String>, ToolError>;

    #[namespace(name = "deep")]
    fn below(&self) -> &impl DeepApi;
}

#[mcp_client]
pub(crate) trait DeepApi {
    async fn depth(&self, r#type: u32) -> Result<u32, ToolError>;
}

#[derive(Default)]
pub(crate) struct Station {
    pub(crate) board: Board,
    /// Notified when a never-ending call starts; `dropped` when it is dropped.
    pub(crate) started: Arc<Notify>,
    pub(crate) dropped: Arc<Notify>,
}

#[derive(Default)]
pub(crate) struct Board {
    deep: Deep,
}

#[derive(Default)]
pub(crate) struct Deep;

pub(crate) struct Dropped(Arc<Notify>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

#[mcp_tool]
impl WeatherApi for Station {
    async fn forecast(&self, city: String, days: u8) -> Result<Forecast, ToolError> {
        if city.is_empty() {
            return Err(ToolError::new("no city"));
        }
        let days = (0..days).map(f64::from).collect();
        Ok(Forecast { city, days })
    }

    fn radar(&self, minutes: Vec<u32>) -> impl Stream<Item = Result<Frame, ToolError>> {
        tokio_stream::iter(minutes.into_iter().map(|minute| match minute {
            99 => Err(ToolError::new("the radar is down")),
            minute => Ok(Frame { minute }),
        }))
    }

    async fn forget(&self, cx: &Context, place: String) -> Result<(), AskError> {
        cx.confirm(format!("Forget {place}?")).await
    }

    async fn wait(&self) -> Result<String, ToolError> {
        let _dropped = Dropped(Arc::clone(&self.dropped));
        self.started.notify_one();
        std::future::pending().await
    }

    fn alerts(&self) -> &Board {
        &self.board
    }
}

#[mcp_tool]
impl AlertsApi for Board {
    async fn all(&self) -> Result<Vec<String>, ToolError> {
        Ok(vec!["storm".to_owned()])
    }

    fn below(&self) -> &Deep {
        &self.deep
    }
}

#[mcp_tool]
impl DeepApi for Deep {
    async fn depth(&self, r#type: u32) -> Result<u32, ToolError> {
        Ok(r#type)
    }
}

pub(crate) fn server() -> Server {
    Server::builder("station", "1")
        .mount(Station::default())
        .build()
        .unwrap()
}

pub(crate) async fn client(server: &Server, revision: Revision) -> McpClient {
    let builder = McpClient::builder().server(server);
    builder.protocol_version(revision).build().await.unwrap()
}
