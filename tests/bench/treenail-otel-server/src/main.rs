//! A server with one tool and telemetry, without an exporter.

use treenail::otel::Telemetry;
use treenail::prelude::*;

/// Adds two integers.
#[mcp_tool]
async fn add(a: i64, b: i64) -> i64 {
    a + b
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> treenail::Result<()> {
    treenail::server!()
        .tools(tools![add])
        .observe(Telemetry::new())
        .build()?
        .serve_stdio()
        .await
}
