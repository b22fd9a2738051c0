//! Commits that wait for a standby which is lost.

use std::time::{Duration, Instant};

use treenail::tasks::{StoreError, TaskStore};

use super::postgres_server::PostgresServer;
use crate::request::TEST_TIMEOUT;
use crate::stores::{HOUR, task};

/// Number of connections of the store.
const CONNECTIONS: usize = 2;

#[tokio::test]
#[ignore = "needs postgres"]
async fn late_changes_leave_no_connections() {
    let server = PostgresServer::start(&["-c", "fsync=off"]);
    let (builder, _) = PostgresServer::builder();
    let builder = builder
        .max_connections(CONNECTIONS)
        .timeout(Duration::from_millis(500));
    let (store, admin) = (builder.build(server.url()).unwrap(), server.admin().await);
    let tasks = [(); 4 * CONNECTIONS].map(|()| task("owner", 1, b"1"));
    let mut probe = task("owner", 1, b"1");
    for task in tasks.iter().chain([&probe]) {
        store.insert(task.clone(), HOUR).await.unwrap();
    }
    admin
        .run("ALTER SYSTEM SET synchronous_standby_names = 'lost'")
        .await;
    admin.run("SELECT pg_reload_conf()").await;
    // The checkpointer applies the setting for all connections, at a time of its own.
    let deadline = Instant::now() + TEST_TIMEOUT;
    while store.replace(probe.clone(), HOUR).await.is_ok() {
        assert!(Instant::now() < deadline, "the setting has no effect");
        probe.version += 1;
    }

    for round in tasks.chunks(CONNECTIONS) {
        let changing = round.iter().map(|task| {
            let (store, mut next) = (store.clone(), task.clone());
            next.version = 2;
            tokio::spawn(async move { store.replace(next, HOUR).await })
        });
        for changing in changing.collect::<Vec<_>>() {
            let late = changing.await.unwrap();
            assert!(matches!(&late, Err(StoreError::Unavailable(_))), "{late:?}");
        }
    }
    let connections = "SELECT pid FROM pg_stat_activity WHERE application_name = 'treenail'";
    let deadline = Instant::now() + TEST_TIMEOUT;
    while admin.run(connections).await.len() > CONNECTIONS {
        assert!(Instant::now() < deadline, "the connections remain");
    }
}
