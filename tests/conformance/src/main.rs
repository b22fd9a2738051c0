//! Server with all features that the official conformance suite tests.
//!
//! It listens on 127.0.0.1 at the path `/mcp`. The environment variable `PORT` sets the port.

mod client_requests;
mod content;
mod input;
mod input_rounds;
mod list_changes;
mod progress;
mod prompts;
mod resources;
mod skills;
mod tasks;

use std::env;
use std::error::Error;
use std::net::Ipv4Addr;

use treenail::Server;
use treenail::http::ServeHttp as _;

use self::client_requests::ClientRequests;
use self::content::Content;
use self::input::Input;
use self::input_rounds::InputRounds;
use self::list_changes::ListChanges;
use self::progress::Progress;
use self::prompts::Prompts;
use self::resources::Resources;
use self::skills::skills;
use self::tasks::Tasks;

fn server() -> treenail::Result<Server> {
    treenail::server!()
        .dynamic()
        .mount(Content)
        .mount(Progress)
        .mount(Input)
        .mount(ClientRequests)
        .mount(InputRounds)
        .mount(ListChanges)
        .mount(Prompts)
        .mount(Resources)
        .mount(Tasks)
        .extension(skills()?)
        .build()
}

#[tokio::main(flavor = "current_thread")]
#[allow(clippy::print_stdout, reason = "the test reads the URL")]
async fn main() -> Result<(), Box<dyn Error>> {
    let port = env::var("PORT").map_err(|_| "set `PORT`; 0 selects a free port")?;
    let port: u16 = port.parse()?;
    let http = server()?.bind_http((Ipv4Addr::LOCALHOST, port)).await?;
    println!("http://{}/mcp", http.local_addr());
    http.serve().await?;
    Ok(())
}
