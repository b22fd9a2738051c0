//! The server: what it offers, and how one message is answered. It knows no transport.

mod answer;
mod builder;
mod connection;
mod list;
mod offer;
mod resources;
mod table;

use std::sync::Arc;

use tokio::sync::Semaphore;
use treenail_schema::Revision;

pub use self::answer::PendingAnswer;
pub use self::builder::ServerBuilder;
pub use self::connection::{Connection, Received};
use self::offer::Offer;
use crate::ask::Asker;
use crate::limits::Limits;
use crate::revision::Style;

/// A server of the Model Context Protocol.
///
/// It is made once by [`Server::builder`], is cheap to clone, and serves any number of connections. It answers one
/// message at a time and knows nothing of how messages travel: [`Server::serve`] drives it over a pair of byte streams,
/// `Server::serve_stdio` over the standard streams of the process, and [`Server::connect`] is for transports of your own.
#[derive(Clone, Debug)]
pub struct Server {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    limits: Limits,
    offer: Offer,
    /// The turns of functions that block.
    blocking: Arc<Semaphore>,
    /// What calls need in order to ask their clients.
    asker: Arc<Asker>,
    /// How results are written, for each revision.
    styles: [Style; Revision::ALL.len()],
    /// The results of `initialize`, and of `server/discover`, for each revision.
    greetings: [Vec<u8>; Revision::ALL.len()],
}

impl Server {
    /// Starts the description of a server with the name and version that peers are told.
    ///
    /// The macro `treenail::server!()` takes both from the crate in which it stands.
    pub fn builder(name: impl Into<String>, version: impl Into<String>) -> ServerBuilder {
        ServerBuilder::new(name.into(), version.into())
    }

    /// The bounds of the server.
    pub fn limits(&self) -> &Limits {
        &self.shared.limits
    }

    /// Begins with a new peer.
    pub fn connect(&self) -> Connection {
        Connection::new(self.clone())
    }

    pub(crate) fn style(&self, revision: Revision) -> &Style {
        &self.shared.styles[revision.index()]
    }
}
