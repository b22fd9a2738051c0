//! Server transports.

mod line;
mod stdio;
