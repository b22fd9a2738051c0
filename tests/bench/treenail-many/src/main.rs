//! A server with 1,000 tools, for the benchmark of `tools/list`.

use treenail::prelude::*;

include!(concat!(env!("OUT_DIR"), "/tools.rs"));

#[tokio::main(flavor = "current_thread")]
async fn main() -> treenail::Result<()> {
    treenail::server!()
        .tools(all())
        .build()?
        .serve_stdio()
        .await
}
