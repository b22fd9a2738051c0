//! A server with 1,000 tools, for the benchmark of `tools/list`. With the argument `text`, results are text only.

use std::env;

use treenail::prelude::*;
use treenail::tool::WrapResults;

include!(concat!(env!("OUT_DIR"), "/tools.rs"));

#[tokio::main(flavor = "current_thread")]
async fn main() -> treenail::Result<()> {
    let is_text = env::args().nth(1).is_some_and(|argument| argument == "text");
    let wrap = if is_text {
        WrapResults::Never
    } else {
        WrapResults::default()
    };
    treenail::server!()
        .tools(all())
        .wrap_results(wrap)
        .build()?
        .serve_stdio()
        .await
}
