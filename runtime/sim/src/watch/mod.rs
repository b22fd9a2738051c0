//! Messages on the connections of a server, and the rules that they obey.

mod http;
mod lines;
mod monitor;

pub(crate) use self::http::{Exchange, WatchedBody};
pub(crate) use self::lines::WatchedLines;
pub(crate) use self::monitor::{Monitor, Rules};
