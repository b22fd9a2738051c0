//! Settings of a store in PostgreSQL.

use std::sync::Arc;
use std::time::Duration;

use tokio_postgres::config::SslMode;
use tokio_postgres::tls::{MakeTlsConnect, TlsConnect};
use tokio_postgres::{Config, NoTls, Socket};
use treenail_runtime::Error;

use super::PostgresStore;
use super::names::Names;
use super::pool::Pool;
use super::session::{Connector, Settings};

/// Upper bound on the size of a body and of a state in bytes. A message of PostgreSQL has at most 1 GiB.
const MAX_BODY_BYTES: usize = 256 << 20;

/// Settings of a [`PostgresStore`].
///
/// ```
/// use std::time::Duration;
///
/// use treenail::tasks::PostgresStore;
///
/// let store = PostgresStore::builder()
///     .table("hotel.tasks")
///     .max_connections(8)
///     .timeout(Duration::from_secs(5))
///     .build("postgres://hotel:secret@db.example.com/hotel")?;
/// # let _ = store;
/// # Ok::<(), treenail::Error>(())
/// ```
#[cfg(feature = "postgres")]
#[derive(Debug, Clone)]
pub struct PostgresStoreBuilder {
    table: String,
    tls: Option<Connector>,
    max_connections: usize,
    max_body_bytes: usize,
    timeout: Duration,
}

impl Default for PostgresStoreBuilder {
    fn default() -> Self {
        Self {
            table: "treenail_tasks".to_owned(),
            tls: None,
            max_connections: 4,
            max_body_bytes: 64 << 20,
            timeout: Duration::from_secs(10),
        }
    }
}

impl PostgresStoreBuilder {
    /// Sets the name of the table, optionally after that of its schema and a dot. Default `treenail_tasks`. A name has lower-case
    /// letters, digits and underscores, at most 48 of them. Servers that share a database need different names, replicas of one
    /// server the same.
    #[must_use]
    pub fn table(mut self, name: impl Into<String>) -> Self {
        self.table = name.into();
        self
    }

    /// Sets the TLS connector, such as `MakeRustlsConnect` of the crate `tokio-postgres-rustls`, or that of `postgres-native-tls`,
    /// in a version for `tokio-postgres` 0.7. Default none. The URL decides on its use: `sslmode=require` demands TLS, and `prefer`,
    /// the default, connects without it to a server that does not support it.
    #[must_use]
    pub fn tls<T>(mut self, connector: T) -> Self
    where
        T: MakeTlsConnect<Socket> + Clone + Send + Sync + 'static,
        T::Stream: Send,
        T::TlsConnect: Send,
        <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
    {
        self.tls = Some(Connector::new(connector));
        self
    }

    /// Sets the maximum number of connections of this process, at least 1. Default 4.
    ///
    /// A connection completes one operation at a time. With the default [`TaskLimits`](crate::TaskLimits), a running task needs about
    /// 0.6 operations per second: a read per `watch_interval`, and a renewal per third of its `lease`. So 1,000 running tasks need at
    /// least 6 connections if an operation takes 10 ms, and 30 if it takes 50 ms, besides those for requests of clients. Operations
    /// that find no free connection within half of the timeout fail.
    #[must_use]
    pub fn max_connections(mut self, max_connections: usize) -> Self {
        self.max_connections = max_connections.max(1);
        self
    }

    /// Sets the maximum size of the body of a task in bytes, and that of its state. A longer one is refused with
    /// [`StoreError::Full`](crate::StoreError::Full). Default 64 MiB, at most 256 MiB.
    #[must_use]
    pub fn max_body_bytes(mut self, max_body_bytes: usize) -> Self {
        self.max_body_bytes = max_body_bytes.min(MAX_BODY_BYTES);
        self
    }

    /// Sets the timeout of an operation, which includes the wait for a connection: at most half of it. Default 10 s.
    /// A statement that takes longer is cancelled.
    ///
    /// Connections after the first have to be opened within a third of it. Opening one takes about 10 round trips, so over a network
    /// where one takes 100 ms, a timeout below 3 s limits the store to one connection.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Creates a store in the database at `url`. It does not connect yet.
    ///
    /// # Errors
    ///
    /// [`treenail_runtime::Error::Build`] if `url` or the name of the table is not valid, or `url` requires TLS and the store has
    /// no connector.
    pub fn build(self, url: impl AsRef<str>) -> treenail_runtime::Result<PostgresStore> {
        let config = self.configure(url.as_ref()).map_err(Error::Build)?;
        let names = Names::parse(&self.table).ok_or_else(|| {
            Error::Build(format!(
                "invalid name of a table `{}`: expected lower-case letters, digits and underscores, at most 48, optionally after \
                 the name of a schema and a dot",
                self.table
            ))
        })?;
        let settings = Settings {
            config,
            connector: self.tls.unwrap_or_else(|| Connector::new(NoTls)),
            names,
            timeout: self.timeout,
        };
        Ok(PostgresStore {
            pool: Arc::new(Pool::new(settings, self.max_connections)),
            max_body_bytes: self.max_body_bytes,
        })
    }

    /// Reads the URL. Errors contain no part of it.
    fn configure(&self, url: &str) -> Result<Config, String> {
        let mut config: Config = url.parse().map_err(|_| {
            "invalid PostgreSQL URL: expected `postgres://user:password@host:5432/database`, with special characters in percent \
             encoding; `sslmode` is `disable`, `prefer` or `require`"
        })?;
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            return Err("invalid PostgreSQL URL: it has no host".to_owned());
        }
        if config.get_ssl_mode() == SslMode::Require && self.tls.is_none() {
            return Err(
                "the PostgreSQL URL requires TLS (`sslmode=require`), and the store has no TLS connector; set one with \
                 `PostgresStoreBuilder::tls`"
                    .to_owned(),
            );
        }
        if config.get_application_name().is_none() {
            config.application_name("treenail");
        }
        if config.get_connect_timeout().is_none() {
            // The next host is tried within the timeout of the operation.
            config.connect_timeout(self.timeout / 3);
        }
        Ok(config)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(builder: PostgresStoreBuilder, url: &str) -> String {
        let error = builder.build(url).unwrap_err();
        assert!(!format!("{error} {error:?}").contains("sesame"), "{error}");
        error.to_string()
    }

    #[test]
    fn invalid_urls_are_not_in_errors() {
        let builder = PostgresStore::builder;
        for url in [
            "sesame",
            "host=host password=sesame port=sesame",
            "postgres://name:sesame@host:port/",
            "postgres://name:sesame@host/?sslmode=verify-full",
            "postgres://name:sesame@host/?sesame=1",
        ] {
            assert!(error(builder(), url).contains("invalid PostgreSQL URL: expected"));
        }
        assert!(error(builder(), "user=sesame").contains("no host"));
    }

    #[test]
    fn a_url_with_tls_needs_a_connector() {
        let url = "postgres://name:sesame@host/?sslmode=require";
        let reason = error(PostgresStore::builder(), url);
        assert!(
            reason.contains("set one with `PostgresStoreBuilder::tls`"),
            "{reason}"
        );
    }

    #[test]
    fn names_of_tables_are_checked() {
        let reason = error(PostgresStore::builder().table("a b"), "postgres://host");
        assert!(reason.contains("invalid name of a table `a b`"), "{reason}");
    }

    #[test]
    fn debug_shows_no_password() {
        let url = "postgres://name:sesame@host/?sslmode=prefer";
        let store = PostgresStore::builder().table("hotel").build(url).unwrap();
        let shown = format!("{store:?}");
        assert!(
            shown.contains("hotel") && !shown.contains("sesame"),
            "{shown}"
        );
    }
}
