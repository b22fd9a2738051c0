//! Official clients that sign in at `TestAuthorizationServer` and use a server with authorization.

use std::time::SystemTime;

use treenail::auth::Clock;
use treenail::auth::testing::TestAuthorizationServer;

use super::guarded::Bound;
use crate::CLIENTS;
use crate::programs::Client;

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
    let bound = Bound::new(clock).await;
    let url = bound.url.clone();
    let running = bound.serve(&authorization_server.issuer());
    let program = tokio::task::spawn_blocking(move || {
        let program = Client::new("authorization/client", client);
        program.argument(&url).run();
    });
    program.await.expect("the client passes");
    running.close().await;
}
