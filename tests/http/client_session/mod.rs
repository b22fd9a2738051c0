//! HTTP sessions of a client: with our own server, and with old or hostile servers.

mod answers;
mod authorization;
mod builder;
mod connections;
mod dropped;
mod header_arguments;
mod informational;
mod legacy;
mod listener;
mod log_floods;
mod malformed;
mod modern;
mod own_client;
mod redirects;
mod renewal;
mod scripted_server;
mod sse_2024_11_05;
mod sse_fallback;
mod streams;
mod subscriptions;
mod unknown_session;
