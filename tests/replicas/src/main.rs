//! Replica of a server over HTTP.
//!
//! The program prints its address, and stops when its standard input closes. The environment contains its secrets:
//! `STATE_KEYS`, the comma-separated keys of request states in base64, starting with the sealing key; and with the feature
//! `redis`, optionally `REDIS_URL`, to receive events from other replicas.

mod hotel;
mod log;

use std::env;
use std::error::Error;
use std::io;
use std::net::Ipv4Addr;
use std::thread;

use treenail::elicit::RequestStateKey;
use treenail::http::ServeHttp as _;
use treenail::{Server, ServerBuilder};

use self::hotel::Hotel;

fn server() -> Result<Server, Box<dyn Error>> {
    let builder = treenail::server!().dynamic().mount(Hotel);
    let keys = env::var("STATE_KEYS")?;
    let keys: Result<Vec<RequestStateKey>, _> = keys.split(',').map(str::parse).collect();
    let key = keys?.into_iter().reduce(RequestStateKey::or);
    let key = key.ok_or("`STATE_KEYS` is empty")?;
    Ok(add_event_bus(builder.request_state_key(key))?.build()?)
}

fn add_event_bus(builder: ServerBuilder) -> treenail::Result<ServerBuilder> {
    match env::var("REDIS_URL") {
        Ok(url) => Ok(builder.event_bus(treenail::events::RedisBus::new(url)?.channel("hotel"))),
        Err(_) => Ok(builder),
    }
}

#[tokio::main(flavor = "current_thread")]
#[allow(clippy::print_stdout, reason = "the tests read the address")]
async fn main() -> Result<(), Box<dyn Error>> {
    log::install()?;
    let server = server()?;
    let http = server.bind_http((Ipv4Addr::LOCALHOST, 0)).await?;
    println!("{}", http.local_addr());
    thread::spawn(move || {
        // An error means the same as the end of the input: the test has exited.
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        server.close();
    });
    http.serve().await?;
    Ok(())
}
