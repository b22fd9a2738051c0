//! A server with one tool on the threads of `#[tokio::main]`, in the configuration of rmcp that is the fastest: no delayed packets,
//! no sessions unless the last argument is `--sessions`, and JSON where nothing streams. With the address of a service, the tool
//! asks it first.

use std::env;

use axum::serve::ListenerExt;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, schemars, tool, tool_router};
use tokio::net::TcpListener;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct AddParams {
    a: i64,
    b: i64,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct TextParams {
    bytes: usize,
}

#[derive(Clone)]
struct Calculator;

#[tool_router(server_handler)]
impl Calculator {
    #[tool(description = "Adds two integers.")]
    async fn add(
        &self,
        Parameters(AddParams { a, b }): Parameters<AddParams>,
    ) -> Result<String, ErrorData> {
        let fetched = bench_io::fetch().await;
        fetched.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        Ok((a + b).to_string())
    }

    #[tool(description = "Repeats a letter.")]
    async fn text(&self, Parameters(TextParams { bytes }): Parameters<TextParams>) -> String {
        "x".repeat(bytes)
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let has_sessions = env::args().last().as_deref() == Some("--sessions");
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(has_sessions)
        .with_json_response(true);
    let service = StreamableHttpService::new(
        || Ok(Calculator),
        LocalSessionManager::default().into(),
        config,
    );
    let router = axum::Router::new().nest_service("/mcp", service);
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}/mcp", listener.local_addr()?);
    let prompt = listener.tap_io(|socket| {
        let _ = socket.set_nodelay(true);
    });
    axum::serve(prompt, router).await?;
    Ok(())
}
