//! Streamable HTTP: one endpoint, a request of HTTP for each message.
//!
//! A request goes through `service` (what HTTP asks for), `origin` (who may ask), `body` (bounded reading), and then by its
//! era: `modern` checks `headers` and `mirror` against the body and runs the message on a connection of its own, whose
//! messages `exchange` puts into the answer. `server` is the listener for those who have no stack of their own.

mod body;
mod exchange;
mod headers;
mod mirror;
mod modern;
mod origin;
mod reply;
mod server;
mod service;
mod stall;

pub use self::reply::HttpBody;
pub use self::server::HttpServer;
pub use self::service::{HttpFuture, HttpService, http_service};
