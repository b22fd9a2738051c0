//! Clients of the legacy era over other transports than Streamable HTTP with sessions.

use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Output};

use tokio::sync::Notify;
use treenail::http::{HttpService, SsePaths};
use treenail::prelude::*;

use crate::CLIENTS;
use crate::programs::Client;

#[derive(Default)]
struct Desk {
    released: Notify,
}

#[mcp_tool]
impl Desk {
    /// Adds two integers.
    #[tool]
    fn add(a: i64, b: i64) -> i64 {
        a + b
    }

    /// Adds many integers, reports each sum, and waits for its release.
    #[tool]
    async fn sum(&self, cx: &Context, numbers: Vec<u32>) -> u32 {
        let mut sum = 0;
        for number in numbers {
            sum += number;
            cx.progress(sum).await;
        }
        self.released.notified().await;
        sum
    }

    /// Releases a sum.
    #[tool]
    fn release(&self) {
        self.released.notify_one();
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
    let service = HttpService::new(server()).legacy_sse(SsePaths::default());
    serve(service, |address| {
        let output = run(&format!("http://{address}/sse"));
        assert!(
            output.status.success(),
            "`node sse.mjs` failed\n{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr),
        );
    })
    .await;
}

#[tokio::test]
async fn clients_use_a_server_without_sessions() {
    let service = HttpService::new(server()).without_sessions();
    serve(service, |address| {
        for client in CLIENTS {
            let url = format!("http://{address}/mcp");
            Client::new("sums", client).argument(url).run();
        }
    })
    .await;
}

fn server() -> Server {
    let server = Server::builder("desk", "1.0.0").mount(Desk::default());
    server.build().expect("the tools are valid")
}

/// Serves while `use_server` runs with the address.
async fn serve(service: HttpService, use_server: impl FnOnce(SocketAddr) + Send + 'static) {
    let server = service.server().clone();
    let http = service.bind("127.0.0.1:0").await;
    let http = http.expect("a loopback port is free");
    let address = http.local_addr();
    let serving = tokio::spawn(http.serve());
    let used = tokio::task::spawn_blocking(move || use_server(address)).await;
    used.expect("the clients succeed");
    server.close();
    let outcome = serving.await.expect("the task does not panic");
    outcome.expect("the server stops without an error");
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
