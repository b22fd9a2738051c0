//! A server with everything that the official conformance suite asks for, written as any server is.
//!
//! It listens on 127.0.0.1, on the port that the environment variable `PORT` names, at the path `/mcp`.

mod asking;
mod changes;
mod content;
mod input;
mod prompts;
mod reports;
mod resources;
mod rounds;

use std::env;
use std::error::Error;
use std::net::Ipv4Addr;

use treenail::Server;

use self::asking::Asking;
use self::changes::Changes;
use self::content::Content;
use self::input::Input;
use self::prompts::Prompts;
use self::reports::Reports;
use self::resources::Resources;
use self::rounds::Rounds;

fn server() -> treenail::Result<Server> {
    treenail::server!()
        .dynamic()
        .mount(Content)
        .mount(Reports)
        .mount(Input)
        .mount(Asking)
        .mount(Rounds)
        .mount(Changes)
        .mount(Prompts)
        .mount(Resources)
        .build()
}

#[tokio::main(flavor = "current_thread")]
#[allow(
    clippy::print_stdout,
    reason = "who starts it wants to know where it is"
)]
async fn main() -> Result<(), Box<dyn Error>> {
    let port = env::var("PORT").map_err(|_| "set `PORT`; 0 is a port that is free")?;
    let port: u16 = port.parse()?;
    let http = server()?.bind_http((Ipv4Addr::LOCALHOST, port)).await?;
    println!("http://{}/mcp", http.local_addr());
    http.serve().await?;
    Ok(())
}
