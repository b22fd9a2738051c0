//! Treenail over `jsoncall`: the client over sessions of that library, and servers as its handlers.
//!
//! `jsoncall` ends a session at the first line that is no message, stops reading when a handler panics, drops the answers
//! that are under way when its input ends, and has no bounds. So a guard stands between it and the peer, `guard`: it reads
//! lines within bounds, lets through what is a message, written anew, and writes what comes out, many messages at once.
//! Ids are exchanged on the way (`ids`, `client`): `jsoncall` chooses ids of its own, and those that callers have chosen
//! are in tokens and in cancellations. `backlog` counts what `jsoncall` has been given and has not brought out yet.
//!
//! `jsoncall` logs each message with all of its contents at level INFO, under the targets `jsoncall::read_message` and
//! `jsoncall::write_message`; a subscriber should have a filter for them.

mod backlog;
mod bridge;
mod calls;
mod client;
mod convert;
mod guard;
mod handler;
mod ids;
mod incoming;
mod serve;

pub use self::client::JsoncallSession;
pub use self::handler::JsoncallHandler;
pub use self::serve::serve;
