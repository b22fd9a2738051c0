//! Tasks in a real PostgreSQL.

mod failure;
mod kill;
mod overload;
mod postgres_server;
mod schema;
mod silence;
mod standby;
mod store;
mod tls;
