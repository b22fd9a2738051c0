//! Official clients that sign in at `TestAuthorizationServer` and use a server with authorization.

use std::time::{Duration, SystemTime};

use treenail::auth::testing::TestAuthorizationServer;
use treenail::auth::{Clock, ContextExt as _, ResourceServer};
use treenail::prelude::*;

use crate::CLIENTS;
use crate::programs::Client;

struct Guarded(Clock);

#[mcp_tool(scope = "files:read")]
impl Guarded {
    /// Returns the subject and the scopes of the caller.
    #[tool]
    fn whoami(&self, cx: &Context) -> Option<String> {
        let grant = cx.grant()?;
        Some(format!("{}: {}", grant.subject(), grant.scopes()))
    }

    /// Needs another scope, which includes the first.
    #[tool(scope = "files:write")]
    fn write(&self, text: String) -> &'static str {
        drop(text);
        "written"
    }

    /// Makes all tokens expire.
    #[tool]
    fn expire(&self) {
        self.0.advance(Duration::from_secs(3600));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn official_clients_sign_in_step_up_and_renew() {
    for client in CLIENTS {
        use_guarded(client).await;
    }
}

async fn use_guarded(client: &'static str) {
    let clock = Clock::manual(SystemTime::now());
    let builder = TestAuthorizationServer::builder().user("alice");
    let builder = builder.clock(clock.clone());
    let authorization_server = builder.start().await.expect("a loopback port is free");

    let server = Server::builder("guarded", "1.0.0").mount(Guarded(clock.clone()));
    let server = server.build().expect("the tools are valid");
    let http = server.bind_http("127.0.0.1:0").await;
    let http = http.expect("a loopback port is free");
    let url = format!("http://{}/mcp", http.local_addr());
    let authorization = ResourceServer::new(url.as_str())
        .issuer(authorization_server.issuer())
        .scopes(["files:read", "files:write"])
        .basic_scopes(["files:read"])
        .implies("files:write", ["files:read"])
        .clock(clock);
    let http = http
        .authorize(authorization)
        .expect("the configuration is valid");
    let serving = tokio::spawn(http.serve());
    let running = tokio::task::spawn_blocking(move || {
        Client::new("authorization/client", client)
            .argument(&url)
            .run();
    });
    running.await.expect("the client passes");
    server.close();
    serving
        .await
        .expect("the task does not panic")
        .expect("the server stops without an error");
}
