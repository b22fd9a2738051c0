//! Restart of the server over Streamable HTTP, which answers sessions that it does not know with status 400.

use std::sync::{Arc, Mutex};

use serde_json::json;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use treenail::client::HttpClientBuilderExt as _;
use treenail::prelude::*;
use treenail::proxy::{Proxy, Remote};

use crate::http_server::HttpServer;
use crate::installed::reference_program;

/// Number of calls after a restart. The first ones may have been sent over a connection to the former process.
const CALLS: usize = 5;

async fn start() -> HttpServer {
    HttpServer::start(&reference_program("everything"), "streamableHttp", "/mcp").await
}

/// Address that stays the same when its server is replaced.
struct Relay {
    url: String,
    server: Arc<Mutex<HttpServer>>,
}

impl Relay {
    async fn start() -> Self {
        let server = Arc::new(Mutex::new(start().await));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let target = Arc::clone(&server);
        tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                let address = target.lock().unwrap().address().to_owned();
                tokio::spawn(async move {
                    let mut server = TcpStream::connect(address).await?;
                    copy_bidirectional(&mut client, &mut server).await
                });
            }
        });
        Self { url, server }
    }

    async fn restart(&self) {
        let next = start().await;
        *self.server.lock().unwrap() = next;
    }
}

/// Returns the text of the answer to a call, or that of its error.
async fn echo(client: &McpClient, tool: &str) -> String {
    match client.call_tool(tool, json!({"message": "a"})).await {
        Ok(result) => result.as_text().unwrap_or_default().to_owned(),
        Err(error) => error.to_string(),
    }
}

async fn check_restart(relay: &Relay, client: &McpClient, tool: &str) {
    assert_eq!(echo(client, tool).await, "Echo: a");
    relay.restart().await;
    let mut answers = Vec::new();
    for _ in 0..CALLS {
        answers.push(echo(client, tool).await);
    }
    assert_eq!(answers[CALLS - 1], "Echo: a", "{answers:?}");
}

#[tokio::test]
async fn a_client_continues_after_a_restart() {
    let relay = Relay::start().await;
    let client = McpClient::builder().url(&*relay.url).build().await.unwrap();
    check_restart(&relay, &client, "echo").await;
}

#[tokio::test]
async fn a_proxy_continues_after_a_restart() {
    let relay = Relay::start().await;
    let gateway = Server::builder("gateway", "1.0.0").dynamic();
    let gateway = gateway.build().unwrap();
    let url = relay.url.clone();
    let remote = Remote::new("every", move || McpClient::builder().url(&*url));
    let mounted = Proxy::new(&gateway).mount(remote).unwrap();
    mounted.connected().await;
    let client = McpClient::builder().connection(gateway.connect());
    let client = client.build().await.unwrap();
    check_restart(&relay, &client, "every.echo").await;
}
