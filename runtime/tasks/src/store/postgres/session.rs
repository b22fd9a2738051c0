//! Connection to PostgreSQL: TLS, settings, and prepared statements.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::task::AbortHandle;
use tokio::time::timeout;
use tokio_postgres::tls::{MakeTlsConnect, TlsConnect};
use tokio_postgres::types::ToSql;
use tokio_postgres::{CancelToken, Client, Config, Error, Row, Socket, Statement};

use super::failure::Failure;
use super::names::Names;
use super::query::{QUERIES, Query, Value};
use super::schema;

/// Longest time of a request to cancel a statement.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(5);

type Connecting<'a> =
    Pin<Box<dyn Future<Output = Result<(Client, AbortHandle), Error>> + Send + 'a>>;
type Cancelling = Pin<Box<dyn Future<Output = Result<(), Error>> + Send>>;

/// Functions that connect to a server, with TLS or without.
#[derive(Clone)]
pub(super) struct Connector {
    connect: Arc<dyn Fn(&Config) -> Connecting<'_> + Send + Sync>,
    /// Cancels the statement that a connection runs, over another connection.
    cancel: Arc<dyn Fn(CancelToken) -> Cancelling + Send + Sync>,
}

impl Connector {
    pub(super) fn new<T>(tls: T) -> Self
    where
        T: MakeTlsConnect<Socket> + Clone + Send + Sync + 'static,
        T::Stream: Send,
        T::TlsConnect: Send,
        <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
    {
        let cancelling = tls.clone();
        Self {
            connect: Arc::new(move |config| {
                let tls = tls.clone();
                Box::pin(async move {
                    let (client, connection) = config.connect(tls).await?;
                    // The end of the connection shows in the client.
                    let driver = tokio::spawn(async move { drop(connection.await) });
                    Ok((client, driver.abort_handle()))
                })
            }),
            cancel: Arc::new(move |statement| {
                let tls = cancelling.clone();
                Box::pin(async move { statement.cancel_query(tls).await })
            }),
        }
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
    connector: Connector,
    statements: [Option<Statement>; QUERIES],
    /// Set while a response is pending. The connection cannot be used again without it.
    is_busy: bool,
    /// Counts the connections of the pool.
    _counted: Arc<()>,
}

impl Session {
    /// Connects, and creates the tables if there are none.
    pub(super) async fn open(settings: &Settings, counter: &Arc<()>) -> Result<Self, Failure> {
        let connector = settings.connector.clone();
        let (client, driver) = (connector.connect)(&settings.config).await?;
        let mut session = Self {
            client,
            driver,
            connector,
            statements: Default::default(),
            is_busy: true,
            _counted: Arc::clone(counter),
        };
        let prepared = session.prepare(settings).await;
        session.is_busy = false;
        prepared.map(|()| session)
    }

    async fn prepare(&self, settings: &Settings) -> Result<(), Failure> {
        let limit = settings.timeout.as_millis().clamp(1, 2_147_483_647);
        // Changes are those of one statement, for which this isolation is enough. Others would refuse some of them.
        let set = format!(
            "SET default_transaction_isolation = 'read committed'; SET statement_timeout = {limit}"
        );
        self.client.batch_execute(&set).await?;
        schema::prepare(&self.client, &settings.names).await
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
        if !self.is_busy {
            return;
        }
        // Without it, the connection would remain until the server responds.
        self.driver.abort();
        // A commit that waits for a standby notices neither the end of its connection nor `statement_timeout`.
        if let Ok(runtime) = Handle::try_current() {
            let cancelling = (self.connector.cancel)(self.client.cancel_token());
            runtime.spawn(timeout(CANCEL_TIMEOUT, cancelling));
        }
    }
}
