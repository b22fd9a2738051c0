//! Connection to PostgreSQL: TLS, settings, and prepared statements.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::AbortHandle;
use tokio_postgres::tls::{MakeTlsConnect, TlsConnect};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Config, Error, Row, Socket, Statement};

use super::failure::Failure;
use super::names::Names;
use super::query::{QUERIES, Query, Value};
use super::schema;

type Connecting<'a> =
    Pin<Box<dyn Future<Output = Result<(Client, AbortHandle), Error>> + Send + 'a>>;

/// Function that connects to a server, with TLS or without.
#[derive(Clone)]
pub(super) struct Connector(Arc<dyn Fn(&Config) -> Connecting<'_> + Send + Sync>);

impl Connector {
    pub(super) fn new<T>(tls: T) -> Self
    where
        T: MakeTlsConnect<Socket> + Clone + Send + Sync + 'static,
        T::Stream: Send,
        T::TlsConnect: Send,
        <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
    {
        Self(Arc::new(move |config| {
            let tls = tls.clone();
            Box::pin(async move {
                let (client, connection) = config.connect(tls).await?;
                // The end of the connection shows in the client.
                let driver = tokio::spawn(async move { drop(connection.await) });
                Ok((client, driver.abort_handle()))
            })
        }))
    }
}

impl fmt::Debug for Connector {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Connector")
    }
}

/// Settings of all connections of a store.
pub(super) struct Settings {
    pub(super) config: Config,
    pub(super) connector: Connector,
    pub(super) names: Names,
    pub(super) timeout: Duration,
}

/// Open connection, for one operation at a time.
pub(super) struct Session {
    client: Client,
    driver: AbortHandle,
    statements: [Option<Statement>; QUERIES],
    /// Set while a response is pending. The connection cannot be used again without it.
    is_busy: bool,
}

impl Session {
    /// Connects, and creates the tables if there are none.
    pub(super) async fn open(settings: &Settings) -> Result<Self, Failure> {
        let (client, driver) = (settings.connector.0)(&settings.config).await?;
        let mut session = Self {
            client,
            driver,
            statements: Default::default(),
            is_busy: true,
        };
        let limit = settings.timeout.as_millis().clamp(1, 2_147_483_647);
        // Changes are those of one statement, for which this isolation is enough. Others would refuse some of them.
        let set = format!(
            "SET default_transaction_isolation = 'read committed'; SET statement_timeout = {limit}"
        );
        session.client.batch_execute(&set).await?;
        schema::prepare(&session.client, &settings.names).await?;
        session.is_busy = false;
        Ok(session)
    }

    pub(super) fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    /// Runs a statement, and returns its rows.
    pub(super) async fn run(
        &mut self,
        query: Query,
        values: &[Value],
        names: &Names,
    ) -> Result<Vec<Row>, Error> {
        self.is_busy = true;
        let rows = self.query(query, values, names).await;
        self.is_busy = false;
        rows
    }

    async fn query(
        &mut self,
        query: Query,
        values: &[Value],
        names: &Names,
    ) -> Result<Vec<Row>, Error> {
        let statement = match &mut self.statements[query as usize] {
            Some(statement) => statement,
            absent => absent.insert(self.client.prepare(&query.text(names)).await?),
        };
        let values: Vec<_> = values
            .iter()
            .map(|value| value as &(dyn ToSql + Sync))
            .collect();
        self.client.query(statement, &values).await
    }

    /// Reads settings of the server that endanger tasks, and warns about them. The user may not be allowed to read them.
    pub(super) async fn check_durability(&mut self) {
        self.is_busy = true;
        let setting = async |name: &str| -> Option<String> {
            let query = format!("SELECT current_setting('{name}')");
            schema::value(&self.client, &query).await.ok()?
        };
        if setting("fsync").await.as_deref() == Some("off") {
            tracing::warn!(
                "PostgreSQL does not wait for its disk, so a crash of its machine may destroy the tasks; set `fsync` to `on`"
            );
        }
        if setting("synchronous_commit").await.as_deref() == Some("off") {
            tracing::warn!(
                "PostgreSQL confirms changes before they are on its disk, so a crash loses the last changes of tasks; set \
                 `synchronous_commit` to `on`"
            );
        }
        self.is_busy = false;
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if self.is_busy {
            // Without it, the connection would remain until the server responds.
            self.driver.abort();
        }
    }
}
