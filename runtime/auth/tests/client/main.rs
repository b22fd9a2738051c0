//! The OAuth client in sessions with a resource server and an authorization server, over loopback sockets.

mod canary;
mod dpop;
mod fixture;
mod grants;
mod issuers;
mod processes;
