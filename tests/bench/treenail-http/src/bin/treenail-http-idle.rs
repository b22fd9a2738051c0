//! A server with one tool and room for many clients.

use treenail::Limits;
use treenail::limits::HttpLimits;
use treenail::prelude::*;

/// Sessions, connections and listening streams.
const MANY: usize = 20_000;

/// Repeats a letter.
#[mcp_tool]
async fn text(bytes: usize) -> String {
    "x".repeat(bytes)
}

#[tokio::main]
async fn main() -> treenail::Result<()> {
    let http = HttpLimits::default();
    let http = http.sessions(MANY).connections(MANY).listen_streams(MANY);
    let limits = Limits::default().http(http);
    let server = treenail::server!().tools(tools![text]).limits(limits);
    let http = server.bind_http("127.0.0.1:0").await?;
    println!("http://{}/mcp", http.local_addr());
    http.serve().await
}
