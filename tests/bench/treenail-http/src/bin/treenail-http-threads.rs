//! A server with one tool on the threads of `#[tokio::main]`. With the address of a service, the tool asks it first. It has
//! no sessions if the last argument is `--no-sessions`.

use std::{env, io};

use treenail::prelude::*;

/// Adds two integers.
#[mcp_tool]
async fn add(a: i64, b: i64) -> io::Result<i64> {
    bench_io::fetch().await?;
    Ok(a + b)
}

#[tokio::main]
async fn main() -> treenail::Result<()> {
    let server = treenail::server!().tools(tools![add]).build()?;
    let mut http = server.bind_http("127.0.0.1:0").await?;
    if env::args().last().as_deref() == Some("--no-sessions") {
        http = http.without_sessions();
    }
    println!("http://{}/mcp", http.local_addr());
    http.serve().await
}
