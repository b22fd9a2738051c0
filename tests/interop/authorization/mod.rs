//! Authorization: the OAuth client with authorization servers that others wrote, and their clients with the resource server.

mod browser;
mod clients;
mod guarded;
mod servers;
