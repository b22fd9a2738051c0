//! Server of the soak test. `soak-server stdio` serves standard input and output, `soak-server http PORT` serves HTTP, and
//! `soak-server proxy PORT URL` serves another server over HTTP.

mod sessions;

use std::env;
use std::error::Error;
use std::net::Ipv4Addr;
use std::time::Duration;

use tokio::runtime::Handle;
use treenail::client::HttpClientBuilderExt as _;
use treenail::limits::HttpLimits;
use treenail::prelude::*;
use treenail::proxy::{Proxy, Remote};
use treenail::{Limits, McpClient, ServerBuilder};

use self::sessions::Sessions;

/// Sessions that their clients have abandoned end within a run.
const SESSION_IDLE_TIMEOUT: Duration = Duration::from_secs(20);

/// State of the process.
#[mcp_type]
struct Vitals {
    /// Tasks of tokio that have not ended.
    tasks: usize,
    /// Sessions of the legacy era.
    sessions: usize,
}

struct Health(Sessions);

#[mcp_tool]
impl Health {
    /// Returns the state of the process.
    #[tool]
    fn vitals(&self) -> Vitals {
        Vitals {
            tasks: Handle::current().metrics().num_alive_tasks(),
            sessions: self.0.count(),
        }
    }
}

/// Returns its argument.
#[mcp_tool]
fn echo(text: String) -> String {
    text
}

/// Returns later.
#[mcp_tool]
async fn wait(millis: u64) -> u64 {
    tokio::time::sleep(Duration::from_millis(millis)).await;
    millis
}

/// Reports progress with long messages.
#[mcp_tool]
async fn count(cx: &Context, to: u32) -> u32 {
    for step in 0..to {
        cx.progress(step).message("x".repeat(1_000)).await;
    }
    to
}

fn builder() -> ServerBuilder {
    let sessions = Sessions::default();
    let http = HttpLimits::default().session_idle_timeout(SESSION_IDLE_TIMEOUT);
    let limits = Limits::default().http(http);
    let builder = Server::builder("soak", "1.0.0").limits(limits);
    builder.observe(sessions.clone()).mount(Health(sessions))
}

fn upstream_tools() -> ServerBuilder {
    builder().tools(tools![echo, wait, count])
}

#[tokio::main]
#[expect(clippy::print_stdout, reason = "the script reads the URL")]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (server, port) = match *arguments {
        ["stdio"] => return Ok(upstream_tools().serve_stdio().await?),
        ["http", port] => (upstream_tools().build()?, port.parse()?),
        ["proxy", port, url] => (proxy(url)?, port.parse()?),
        _ => return Err("usage: soak-server stdio | http PORT | proxy PORT URL".into()),
    };
    let address: (Ipv4Addr, u16) = (Ipv4Addr::LOCALHOST, port);
    let http = server.bind_http(address).await?;
    println!("http://{}/mcp", http.local_addr());
    Ok(http.serve().await?)
}

fn proxy(url: &str) -> treenail::Result<Server> {
    let server = builder().dynamic().build()?;
    let url = url.to_owned();
    let connect = move || McpClient::builder().url(&url);
    Proxy::new(&server).mount(Remote::new("upstream", connect).namespace("up"))?;
    Ok(server)
}
