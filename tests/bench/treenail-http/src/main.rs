//! A server with one tool on one thread, as a user of Treenail writes it.

use treenail::prelude::*;

/// Adds two integers.
#[mcp_tool]
async fn add(a: i64, b: i64) -> i64 {
    a + b
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> treenail::Result<()> {
    let server = treenail::server!().tools(tools![add]).build()?;
    let http = server.bind_http("127.0.0.1:0").await?;
    println!("http://{}/mcp", http.local_addr());
    http.serve().await
}
