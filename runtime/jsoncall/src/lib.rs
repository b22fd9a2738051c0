//! Adapter for the crate `jsoncall`: client sessions over it, and servers as its handlers.
//!
//! Use the crate `treenail`, which re-exports all of this in `treenail::jsoncall`.
//!
//! `jsoncall` ends a session at the first invalid line, stops reading when a handler panics, drops pending responses
//! when its input ends, and has no limits. Therefore a guard filters the traffic between it and the peer (`guard`): it
//! reads lines within limits, forwards only valid messages, re-encoded, and writes output in batches. Request ids are
//! mapped (`ids`, `client`), because `jsoncall` chooses its own, while progress tokens and cancellations contain those
//! of the callers. `backlog` counts messages that `jsoncall` has received but not yet written.
//!
//! `jsoncall` logs each message with its contents at level INFO, under the targets `jsoncall::read_message` and
//! `jsoncall::write_message`; subscribers should filter them.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod backlog;
mod bridge;
mod calls;
mod client;
mod convert;
mod driver;
mod guard;
mod handler;
mod ids;
mod incoming;
mod serve;

/// The crate `jsoncall`, in the version that [`JsoncallHandler`] needs.
pub use ::jsoncall;

pub use self::client::JsoncallSession;
pub use self::handler::JsoncallHandler;
pub use self::serve::serve;
