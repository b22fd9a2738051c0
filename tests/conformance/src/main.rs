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
async fn main() -> treenail::Result<()> {
    server()?.serve_stdio().await
}
