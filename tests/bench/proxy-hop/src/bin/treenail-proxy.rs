//! A proxy over standard input and output, as a user of Treenail writes it. Its argument is the program behind it.

use treenail::prelude::*;
use treenail::proxy::{Proxy, Remote};

#[tokio::main(flavor = "current_thread")]
async fn main() -> treenail::Result<()> {
    let program = std::env::args().nth(1).unwrap_or_default();
    let server = treenail::server!().dynamic().build()?;
    let connect = move || McpClient::builder().command(program.as_str());
    let mounted = Proxy::new(&server).mount(Remote::new("far", connect))?;
    mounted.ready().await;
    server.serve_stdio().await
}
