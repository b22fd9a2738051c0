//! A server that requires authorization, and a browser for its users.

use std::io::{Read, Write};
use std::net::TcpStream;

use treenail::auth::ResourceServer;
use treenail::auth::testing::TestAuthorizationServer;
use treenail::http::ServeHttp as _;
use treenail::prelude::*;

use super::Everything;

/// Tools that need a further scope.
struct Vault;

#[mcp_tool]
impl Vault {
    #[tool(scope = "more")]
    fn vault(&self) -> &'static str {
        "open"
    }
}

/// Serves HTTP for callers with a token, and prints the URL.
pub(crate) async fn serve() -> treenail::Result<()> {
    let server = Server::builder("protected", "1").mount(Everything);
    serve_scopes(server.build()?, &["basic"]).await
}

/// Serves HTTP for callers with a token. One of the tools needs a further scope.
pub(crate) async fn serve_step_up() -> treenail::Result<()> {
    let server = Server::builder("step-up", "1").mount(Vault);
    serve_scopes(server.build()?, &["basic", "more"]).await
}

#[expect(clippy::print_stdout, reason = "the tests read it")]
async fn serve_scopes(server: Server, scopes: &[&str]) -> treenail::Result<()> {
    let listening = server.bind_http("127.0.0.1:0").await?;
    let url = format!("http://{}/mcp", listening.local_addr());
    let authorization_server = TestAuthorizationServer::builder()
        .resource(&url)
        .start()
        .await?;
    let resource = ResourceServer::new(&url)
        .issuer(authorization_server.issuer())
        .scopes(scopes.iter().copied())
        .basic_scopes(["basic"])
        .required_scopes(["basic"]);
    let listening = listening.authorize(resource)?;
    println!("{url}");
    listening.serve().await
}

/// Requests a URL and follows its redirects, as a browser does.
pub(crate) fn browse(url: &str) -> std::io::Result<()> {
    let mut next = Some(url.to_owned());
    while let Some(url) = next {
        let rest = url.strip_prefix("http://").unwrap_or(&url);
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        let mut stream = TcpStream::connect(host)?;
        write!(
            stream,
            "GET /{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n"
        )?;
        let mut response = String::new();
        stream.read_to_string(&mut response)?;
        let location = response.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("location")
                .then(|| value.trim().to_owned())
        });
        next = location;
    }
    Ok(())
}
