//! More operations than connections to PostgreSQL, and fewer connections than a store may have.

use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::task::JoinHandle;
use treenail::tasks::{PostgresStore, StoreError, TaskStore};

use super::postgres_server::PostgresServer;
use crate::log::Log;
use crate::stores::{HOUR, task};

/// Starts an operation. Those of a test are queued in their order.
async fn start<T: Send + 'static>(
    operation: impl Future<Output = T> + Send + 'static,
) -> JoinHandle<T> {
    let started = tokio::spawn(operation);
    tokio::task::yield_now().await;
    started
}

/// Starts a search of due tasks.
async fn search(store: &PostgresStore) -> JoinHandle<Result<usize, StoreError>> {
    let store = store.clone();
    start(async move { store.due(10).await.map(|due| due.len()) }).await
}

#[tokio::test]
#[ignore = "needs postgres"]
async fn an_operation_without_a_place_fails_in_time_and_closes_no_connection() {
    let server = PostgresServer::start(&["-c", "fsync=off"]);
    let (builder, table) = PostgresServer::builder();
    let builder = builder.timeout(Duration::from_secs(6)).max_connections(1);
    let store = builder.build(server.url()).unwrap();
    store.due(1).await.unwrap();
    let admin = server.admin().await;
    let connections = "SELECT pid FROM pg_stat_activity WHERE application_name = 'treenail'";
    let before = admin.run(connections).await;
    admin.run(&format!("BEGIN; LOCK TABLE {table}")).await;
    let running = search(&store).await;
    let mut waiting = Vec::new();
    for _ in 0..20 {
        waiting.push(search(&store).await);
    }
    for waiting in waiting {
        let failed = waiting.await.unwrap().unwrap_err().to_string();
        assert!(
            failed.contains("`max_connections` of the store"),
            "{failed}"
        );
    }
    admin.run("ROLLBACK").await;
    assert_eq!(running.await.unwrap(), Ok(0));
    assert_eq!(search(&store).await.await.unwrap(), Ok(0));
    assert_eq!(admin.run(connections).await, before);
}

#[tokio::test]
#[ignore = "needs postgres"]
async fn a_renewal_of_a_lease_overtakes_other_operations() {
    let server = PostgresServer::shared();
    let (builder, table) = PostgresServer::builder();
    let store = builder.max_connections(1).build(server.url()).unwrap();
    let mut renewed = task("owner", 1, b"1");
    store.insert(renewed.clone(), HOUR).await.unwrap();
    renewed.version = 2;
    let admin = server.admin().await;
    admin.run(&format!("BEGIN; LOCK TABLE {table}")).await;
    let done = Arc::new(Mutex::new(Vec::new()));
    let mut started = Vec::new();
    for _ in 0..8 {
        let (store, done) = (store.clone(), Arc::clone(&done));
        let read = async move {
            store.due(1).await.unwrap();
            done.lock().unwrap().push("read");
        };
        started.push(start(read).await);
    }
    let (renewing, order) = (store.clone(), Arc::clone(&done));
    let renewal = async move {
        assert_eq!(renewing.replace(renewed, HOUR).await, Ok(true));
        order.lock().unwrap().push("renewal");
    };
    started.push(start(renewal).await);
    admin.run("ROLLBACK").await;
    for started in started {
        started.await.unwrap();
    }
    assert_eq!(done.lock().unwrap()[1], "renewal");
}

#[tokio::test]
#[ignore = "needs postgres"]
async fn a_caller_that_stops_waiting_leaves_the_queue() {
    let server = PostgresServer::shared();
    let (builder, table) = PostgresServer::builder();
    let store = builder.max_connections(1).build(server.url()).unwrap();
    store.due(1).await.unwrap();
    let admin = server.admin().await;
    admin.run(&format!("BEGIN; LOCK TABLE {table}")).await;
    let running = search(&store).await;
    let (adding, unwanted) = (store.clone(), task("owner", 1, b"1"));
    let abandoned = start(async move { adding.insert(unwanted, Duration::ZERO).await }).await;
    abandoned.abort();
    assert!(abandoned.await.unwrap_err().is_cancelled());
    admin.run("ROLLBACK").await;
    assert_eq!(running.await.unwrap(), Ok(0));
    assert_eq!(search(&store).await.await.unwrap(), Ok(0));
}

#[tokio::test]
#[ignore = "needs postgres"]
async fn a_store_works_with_the_connections_that_postgres_accepts() {
    let server = PostgresServer::shared();
    let (builder, table) = PostgresServer::builder();
    let admin = server.admin().await;
    builder.build(server.url()).unwrap().due(1).await.unwrap();
    let few = format!(
        "CREATE ROLE few LOGIN CONNECTION LIMIT 2; GRANT ALL ON {table}, {table}_usage, {table}_format TO few"
    );
    admin.run(&few).await;
    let builder = PostgresStore::builder().table(&table);
    let store = builder.build(server.url_of("few")).unwrap();
    for _ in 0..20 {
        let mut started = Vec::new();
        for _ in 0..16 {
            let (store, task) = (store.clone(), task("owner", 1, b"1"));
            started.push(start(async move { store.insert(task, HOUR).await }).await);
        }
        for started in started {
            assert_eq!(started.await.unwrap(), Ok(()));
        }
    }
    let refused = PostgresStore::builder().table(&table);
    let refused = refused.build(server.url_of("few")).unwrap();
    let error = refused.due(1).await.unwrap_err().to_string();
    assert!(error.contains("has no free connection"), "{error}");
}

#[tokio::test]
#[ignore = "needs postgres"]
async fn missing_connections_are_reported_while_the_others_are_busy() {
    let (log, _guard) = Log::record();
    let server = PostgresServer::shared();
    let (builder, table) = PostgresServer::builder();
    let admin = server.admin().await;
    builder.build(server.url()).unwrap().due(1).await.unwrap();
    let single = format!(
        "CREATE ROLE single LOGIN CONNECTION LIMIT 1; GRANT ALL ON {table}, {table}_usage, {table}_format TO single"
    );
    admin.run(&single).await;
    let builder = PostgresStore::builder().table(&table);
    let store = builder.timeout(Duration::from_secs(6));
    let store = store.build(server.url_of("single")).unwrap();
    store.due(1).await.unwrap();
    admin.run(&format!("BEGIN; LOCK TABLE {table}")).await;
    let mut running = Vec::new();
    for _ in 0..20 {
        running.push(search(&store).await);
    }
    let first = running.remove(0);
    for refused in running {
        let error = refused.await.unwrap().unwrap_err().to_string();
        assert!(error.contains("has no free connection"), "{error}");
    }
    admin.run("ROLLBACK").await;
    assert_eq!(first.await.unwrap(), Ok(0));
    let text = log.text();
    assert!(text.contains("lacks connections to PostgreSQL"), "{text}");
    assert!(text.contains("has no free connection"), "{text}");
}
