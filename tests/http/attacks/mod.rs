//! Attacks: each has the answer that is documented for it, costs no more memory than the limits allow, and keeps nobody else
//! from being served.
//!
//! Those over sockets go to a server in a process of its own (`process`), whose memory can be told from that of the attacker
//! (on Linux; elsewhere it is not looked at).

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
