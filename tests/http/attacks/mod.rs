//! Attacks: each gets the documented response, costs no more memory than the limits allow, and does not prevent other
//! clients from being served.
//!
//! Attacks over sockets use a server in a separate process (`process`), so that its memory can be measured separately (on
//! Linux only).

mod batches;
mod bodies;
mod floods;
mod heads;
mod json;
mod process;
mod readers;
mod requests;
mod sessions;
mod smuggling;
mod tools;
mod wire;
