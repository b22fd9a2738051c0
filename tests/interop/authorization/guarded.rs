//! Server with authorization.

use std::time::Duration;

use tokio::task::JoinHandle;
use treenail::auth::{Clock, ResourceServer};
use treenail::http::HttpServer;
use treenail::prelude::*;

struct Guarded(Clock);

#[mcp_tool(scope = "files:read")]
impl Guarded {
    /// Returns the subject and the scopes of the caller.
    #[tool]
    fn whoami(cx: &Context) -> Option<String> {
        let grant = cx.grant()?;
        Some(format!("{}: {}", grant.subject(), grant.scopes()))
    }

    /// Needs another scope, which includes the first.
    #[tool(scope = "files:write")]
    fn write(text: String) -> &'static str {
        drop(text);
        "written"
    }

    /// Makes all tokens expire.
    #[tool]
    fn expire(&self) {
        self.0.advance(Duration::from_secs(3600));
    }
}

/// Server that is bound to a port, but has no authorization yet.
pub(super) struct Bound {
    server: Server,
    http: HttpServer,
    clock: Clock,
    pub(super) url: String,
}

/// Server that runs until [`close`](Self::close).
pub(super) struct Running {
    server: Server,
    serving: JoinHandle<treenail::Result<()>>,
}

impl Bound {
    pub(super) async fn new(clock: Clock) -> Self {
        let server = Server::builder("guarded", "1.0.0").mount(Guarded(clock.clone()));
        let server = server.build().expect("the tools are valid");
        let http = server.bind_http("127.0.0.1:0").await;
        let http = http.expect("a loopback port is free");
        let url = format!("http://{}/mcp", http.local_addr());
        Self {
            server,
            http,
            clock,
            url,
        }
    }

    /// Accepts the tokens of this issuer.
    pub(super) fn serve(self, issuer: &str) -> Running {
        self.serve_with(issuer, |authorization| authorization)
    }

    /// As [`serve`](Self::serve), with further configuration.
    pub(super) fn serve_with(
        self,
        issuer: &str,
        change: impl FnOnce(ResourceServer) -> ResourceServer,
    ) -> Running {
        let authorization = ResourceServer::new(self.url)
            .issuer(issuer)
            .scopes(["files:read", "files:write"])
            .basic_scopes(["files:read"])
            .implies("files:write", ["files:read"])
            .clock(self.clock);
        let http = self.http.authorize(change(authorization));
        let http = http.expect("the configuration is valid");
        Running {
            server: self.server,
            serving: tokio::spawn(http.serve()),
        }
    }
}

impl Running {
    pub(super) async fn close(self) {
        self.server.close();
        let served = self.serving.await.expect("the task does not panic");
        served.expect("the server stops without an error");
    }
}
