//! One replica of a server over HTTP, written as any server is.
//!
//! It prints where it listens, and ends with its standard input. The environment has its secrets: `STATE_KEYS`, the keys of
//! request states in base64, the one that seals first, with commas between them; and with the feature `redis`, if it shall
//! hear of other replicas, `REDIS_URL`.

mod hotel;
mod log;

use std::env;
use std::error::Error;
use std::io;
use std::net::Ipv4Addr;
use std::thread;

use treenail::{RequestStateKey, Server, ServerBuilder};

use self::hotel::Hotel;

fn server() -> Result<Server, Box<dyn Error>> {
    let builder = treenail::server!().dynamic().mount(Hotel);
    let keys = env::var("STATE_KEYS")?;
    let keys: Result<Vec<RequestStateKey>, _> = keys.split(',').map(str::parse).collect();
    let key = keys?.into_iter().reduce(RequestStateKey::or);
    let key = key.ok_or("`STATE_KEYS` is empty")?;
    Ok(connect(builder.request_state_key(key))?.build()?)
}

#[cfg(feature = "redis")]
fn connect(builder: ServerBuilder) -> treenail::Result<ServerBuilder> {
    match env::var("REDIS_URL") {
        Ok(url) => Ok(builder.event_bus(treenail::RedisBus::new(url)?.channel("hotel"))),
        Err(_) => Ok(builder),
    }
}

#[cfg(not(feature = "redis"))]
#[allow(
    clippy::unnecessary_wraps,
    reason = "it fails with the feature `redis`"
)]
fn connect(builder: ServerBuilder) -> treenail::Result<ServerBuilder> {
    Ok(builder)
}

#[tokio::main(flavor = "current_thread")]
#[allow(
    clippy::print_stdout,
    reason = "who starts it wants to know where it is"
)]
async fn main() -> Result<(), Box<dyn Error>> {
    log::begin()?;
    let server = server()?;
    let http = server.bind_http((Ipv4Addr::LOCALHOST, 0)).await?;
    println!("{}", http.local_addr());
    thread::spawn(move || {
        // However it ends, nobody is there any more.
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        server.close();
    });
    http.serve().await?;
    Ok(())
}
