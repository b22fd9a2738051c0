//! Proxy in front of `conformance-server`, without a namespace.
//!
//! The environment variable `UPSTREAM` has the URL of the server, `REVISION` the revision of the connection to it, and `PORT` the
//! port on 127.0.0.1, at the path `/mcp`.

use std::env;
use std::error::Error;
use std::net::Ipv4Addr;

use treenail::client::HttpClientBuilderExt as _;
use treenail::http::ServeHttp as _;
use treenail::proxy::{Proxy, Remote, Status};
use treenail::schema::Revision;
use treenail::{McpClient, Server};

#[tokio::main(flavor = "current_thread")]
#[allow(clippy::print_stdout, reason = "the test reads the URL")]
async fn main() -> Result<(), Box<dyn Error>> {
    let port: u16 = env::var("PORT")?.parse()?;
    let upstream = env::var("UPSTREAM")?;
    let revision: Revision = env::var("REVISION")?.parse()?;
    let server = Server::builder("conformance-proxy", "1.0.0")
        .dynamic()
        .build()?;
    let connect = move || {
        McpClient::builder()
            .url(&upstream)
            .protocol_version(revision)
    };
    let mounted = Proxy::new(&server).mount(Remote::new("conformance", connect).namespace(""))?;
    if let Status::Disconnected { cause } = mounted.ready().await {
        return Err(cause.as_ref().into());
    }
    let http = server.bind_http((Ipv4Addr::LOCALHOST, port)).await?;
    println!("http://{}/mcp", http.local_addr());
    http.serve().await?;
    Ok(())
}
