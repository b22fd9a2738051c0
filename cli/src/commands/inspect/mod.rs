//! `treenail inspect`: a local web page for a server.
//!
//! `http` serves the page and its interface to browsers that know the token, `api` implements that interface, `hub` has the
//! state that all browser tabs share, and `link` is the connection to the server.

mod api;
mod handler;
mod http;
mod hub;
mod link;

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use tokio::net::TcpListener;
use tokio::time::sleep;
use treenail::auth::Browser;

use self::http::Guard;
use self::hub::Hub;
use self::link::Link;
use crate::args::ServerArgs;
use crate::exit::{Exit, Failure};
use crate::signals::until_interrupted;
use crate::terminal::Terminal;

/// Time for the browser to start and to load the page.
const CODE_LIFETIME: Duration = Duration::from_secs(120);

/// Explore a server in the browser: call tools with forms, read resources, answer its requests, watch every message
#[derive(Debug, Args)]
pub(crate) struct Inspect {
    /// Print the URL without opening the browser
    #[arg(long, help_heading = "Page")]
    no_open: bool,

    /// Port of the page on 127.0.0.1 [default: a free one]
    #[arg(
        long,
        value_name = "PORT",
        default_value_t = 0,
        hide_default_value = true,
        help_heading = "Page"
    )]
    port: u16,

    #[command(flatten)]
    pub(super) server: ServerArgs,
}

impl Inspect {
    pub(super) async fn run(self, terminal: &Terminal) -> Result<Exit, Failure> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, self.port)).await;
        let listener = listener.map_err(Failure::io(format!("127.0.0.1:{}", self.port)))?;
        let address = listener.local_addr().map_err(Failure::io("127.0.0.1"))?;
        let guard = Guard::new(address.port())?;
        let hub = Arc::new(Hub::default());
        let link = Link::new(self.server, terminal, &hub)?;
        announce(&guard, self.no_open, terminal).await?;
        link.connect();
        let app = Arc::new(api::App {
            hub,
            link: Arc::clone(&link),
            guard,
        });
        let expiry = async {
            sleep(CODE_LIFETIME).await;
            app.guard.expire_code();
        };
        let serving = async {
            tokio::join!(http::serve(listener, Arc::clone(&app)), expiry);
            Ok(())
        };
        let served = until_interrupted(serving).await;
        link.close().await;
        match served {
            // Ctrl-C is the way to end the program.
            Err(failure) if failure.exit() == Exit::Interrupted => Ok(Exit::Success),
            served => served.map(|()| Exit::Success),
        }
    }
}

/// Prints the URL, and opens it in the browser.
async fn announce(guard: &Guard, no_open: bool, terminal: &Terminal) -> Result<(), Failure> {
    terminal.print_text(&guard.url()).await?;
    terminal
        .print_note("the page is for you only: its URL contains a secret; press Ctrl-C to end it");
    if no_open {
        return Ok(());
    }
    let launched = guard.one_time_file().and_then(|file| {
        Browser::launch_file(&file).map_err(Failure::io("no program could be started"))
    });
    if let Err(failure) = launched {
        guard.expire_code();
        let reason = failure.message();
        let note = format!("the browser could not be opened ({reason}); open the URL above");
        terminal.print_note(&note);
    }
    Ok(())
}
