//! Clients with settings of TLS, and servers that require a certificate.

mod authority;
mod connections;
mod failures;
mod server;
#[cfg(unix)]
mod unix_sockets;
