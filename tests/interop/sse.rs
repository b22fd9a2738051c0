//! Client for HTTP+SSE, the predecessor of Streamable HTTP.

use std::path::Path;
use std::process::{Command, Output};

use treenail::http::{HttpService, SsePaths};
use treenail::prelude::*;

struct Desk;

#[mcp_tool]
impl Desk {
    /// Adds two integers.
    #[tool]
    fn add(a: i64, b: i64) -> i64 {
        a + b
    }

    /// Reports progress, and asks for confirmation.
    #[tool]
    async fn confirm(cx: &Context) -> Result<&'static str, AskError> {
        for step in 1..=3 {
            cx.progress(step).await;
        }
        cx.confirm("Sure?").await?;
        Ok("sure")
    }

    /// Never ends.
    #[tool]
    async fn wait() {
        std::future::pending::<()>().await;
    }
}

#[tokio::test]
async fn v1_sdk_client_uses_http_sse() {
    let server = Server::builder("desk", "1.0.0").mount(Desk);
    let server = server.build().expect("the tools are valid");
    let service = HttpService::new(server.clone()).legacy_sse(SsePaths::default());
    let http = service
        .bind("127.0.0.1:0")
        .await
        .expect("a loopback port is free");
    let url = format!("http://{}/sse", http.local_addr());
    let serving = tokio::spawn(http.serve());
    let output = tokio::task::spawn_blocking(move || run(&url)).await;
    let output = output.expect("the task does not panic");
    assert!(
        output.status.success(),
        "`node sse.mjs` failed\n{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    server.close();
    serving
        .await
        .expect("the task does not panic")
        .expect("the server stops without an error");
}

fn run(url: &str) -> Output {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/interop");
    assert!(
        folder.join("node_modules").is_dir(),
        "the clients are not installed; run `npm ci --prefix tests/interop`"
    );
    Command::new("node")
        .args(["sse.mjs", url])
        .current_dir(folder)
        .output()
        .expect("`node` (20 or newer) is on the PATH")
}
