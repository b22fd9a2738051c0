//! Tasks in a real PostgreSQL.

mod failure;
mod kill;
mod postgres_server;
mod schema;
mod store;
mod tls;
