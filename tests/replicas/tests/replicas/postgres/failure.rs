//! Failures of PostgreSQL and of its network.

use std::time::Duration;

use tokio::net::TcpListener;
use treenail::tasks::{PostgresStore, StoreError, TaskStore};

use super::postgres_server::PostgresServer;
use crate::log::Log;
use crate::stores::{HOUR, task};

#[tokio::test]
#[ignore = "needs postgres"]
async fn tasks_survive_a_crash_of_postgres() {
    let (log, _guard) = Log::record();
    let mut server = PostgresServer::start(&[]);
    let (store, _) = server.store();
    let mut stored = Vec::new();
    for created_ms in 0..20 {
        let task = task("owner", created_ms, b"1");
        store.insert(task.clone(), Duration::ZERO).await.unwrap();
        stored.push(task);
    }
    server.stop();
    let lost = store.get(&stored[0].id).await.unwrap_err();
    assert!(matches!(&lost, StoreError::Unavailable(_)), "{lost}");
    let lost = store.remove(&stored[0].id, 1).await.unwrap_err();
    let reason = "the task store is unavailable: PostgreSQL cannot be reached";
    assert!(lost.to_string().starts_with(reason), "{lost}");
    server.resume();
    assert_eq!(store.list("owner", None, 100).await, Ok(stored.clone()));
    assert_eq!(store.due(100).await.map(|due| due.len()), Ok(20));
    assert_eq!(store.usage("owner").await.map(|usage| usage.tasks), Ok(20));
    assert_eq!(log.text(), "", "this server loses nothing");
}

#[tokio::test]
#[ignore = "needs postgres"]
async fn lost_connections_are_replaced() {
    let server = PostgresServer::start(&["-c", "fsync=off"]);
    let ((store, _), admin) = (server.store(), server.admin().await);
    let task = task("owner", 1, b"1");
    store.insert(task.clone(), HOUR).await.unwrap();
    for _ in 0..5 {
        let reading = (0..8).map(|_| {
            let (store, id) = (store.clone(), task.id.clone());
            tokio::spawn(async move { store.get(&id).await })
        });
        for reading in reading.collect::<Vec<_>>() {
            assert_eq!(reading.await.unwrap(), Ok(Some(task.clone())));
        }
        let ended = admin.end_connections().await;
        assert!((1..=4).contains(&ended), "{ended} connections");
    }
}

#[tokio::test]
#[ignore = "needs postgres"]
async fn errors_contain_no_credentials() {
    let server = PostgresServer::shared();
    let create = "CREATE ROLE tasks LOGIN PASSWORD 'xyzzy'";
    server.admin().await.run(create).await;
    for password in ["opensesame", "open%20sesame"] {
        let url = server.url_of(&format!("tasks:{password}"));
        let store = PostgresStore::new(url).unwrap();
        let error = store.due(1).await.unwrap_err();
        let reason = "PostgreSQL refuses the user, the password, the address, or a connection without TLS (28P01)";
        assert_eq!(error, StoreError::Unavailable(reason.to_owned()));
        assert!(!format!("{store:?}").contains("sesame"));
    }
    let allowed = PostgresStore::new(server.url_of("tasks:xyzzy")).unwrap();
    let forbidden = allowed.due(1).await.unwrap_err().to_string();
    assert!(forbidden.contains("lacks a permission"), "{forbidden}");
}

#[tokio::test]
#[ignore = "needs postgres"]
async fn missing_databases_are_reported() {
    let server = PostgresServer::shared();
    let url = server.url() + "_absent";
    let error = PostgresStore::new(url).unwrap().due(1).await.unwrap_err();
    let reason = "the database does not exist; create it (3D000)";
    assert_eq!(error, StoreError::Other(reason.to_owned()));
}

#[tokio::test]
#[ignore = "needs postgres"]
async fn a_postgres_that_may_lose_tasks_is_reported() {
    let (log, _guard) = Log::record();
    let server = PostgresServer::shared();
    let url = server.url() + "?options=-c%20synchronous_commit%3Doff";
    let (builder, _) = PostgresServer::builder();
    builder.build(url).unwrap().due(1).await.unwrap();
    let text = log.text();
    assert!(text.contains("does not wait for its disk"), "{text}");
    assert!(text.contains("loses the last changes"), "{text}");
}

#[tokio::test]
#[ignore = "needs postgres"]
async fn a_read_only_postgres_is_replaced_once_it_is_writable() {
    let server = PostgresServer::shared();
    let ((store, table), admin) = (server.store(), server.admin().await);
    store.due(1).await.unwrap();
    admin.run("CREATE ROLE standby LOGIN SUPERUSER; ALTER ROLE standby SET default_transaction_read_only = on").await;
    let builder = PostgresStore::builder().table(&table);
    let standby = builder.build(server.url_of("standby")).unwrap();
    assert_eq!(standby.due(1).await, Ok(Vec::new()));
    let refused = standby
        .insert(task("owner", 1, b"1"), HOUR)
        .await
        .unwrap_err();
    assert!(
        refused.to_string().contains("this PostgreSQL is read-only"),
        "{refused}"
    );
    admin
        .run("ALTER ROLE standby RESET default_transaction_read_only")
        .await;
    assert_eq!(standby.insert(task("owner", 1, b"1"), HOUR).await, Ok(()));
}

#[tokio::test]
#[ignore = "needs postgres"]
async fn a_postgres_without_space_is_full() {
    let server = PostgresServer::shared();
    let ((store, table), admin) = (server.store(), server.admin().await);
    let first = task("owner", 1, b"1");
    store.insert(first.clone(), HOUR).await.unwrap();
    // The error of a disk without space.
    let without_space = format!(
        "CREATE FUNCTION {table}_fill() RETURNS trigger LANGUAGE plpgsql AS \
         $$ BEGIN RAISE EXCEPTION 'secret' USING ERRCODE = '53100'; END $$; \
         CREATE TRIGGER fill AFTER INSERT OR UPDATE ON {table} FOR EACH ROW EXECUTE FUNCTION {table}_fill()"
    );
    admin.run(&without_space).await;
    let full = StoreError::Full("the disk of PostgreSQL has no space left".to_owned());
    let mut next = first.clone();
    next.version = 2;
    assert_eq!(store.replace(next, HOUR).await, Err(full.clone()));
    assert_eq!(store.insert(task("owner", 2, b"1"), HOUR).await, Err(full));
    assert_eq!(store.get(&first.id).await, Ok(Some(first.clone())));
    assert_eq!(store.usage("owner").await.map(|usage| usage.tasks), Ok(1));
    assert_eq!(store.remove(&first.id, 1).await, Ok(true));
}

#[tokio::test]
#[ignore = "needs postgres"]
async fn a_locked_table_delays_operations_until_their_timeout() {
    let server = PostgresServer::shared();
    let (builder, table) = PostgresServer::builder();
    let store = builder
        .timeout(Duration::from_millis(300))
        .max_connections(1);
    let store = store.build(server.url()).unwrap();
    store.due(1).await.unwrap();
    let admin = server.admin().await;
    admin.run(&format!("BEGIN; LOCK TABLE {table}")).await;
    for _ in 0..2 {
        let late = store.due(1).await.unwrap_err();
        assert!(
            matches!(&late, StoreError::Unavailable(reason) if reason.contains("in time")),
            "{late}"
        );
    }
    admin.run("ROLLBACK").await;
    assert_eq!(store.due(1).await, Ok(Vec::new()));
}

#[tokio::test]
#[ignore = "needs postgres"]
async fn a_postgres_that_does_not_respond_is_reported() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!(
        "postgres://admin@{}/postgres",
        listener.local_addr().unwrap()
    );
    let store = PostgresStore::builder().timeout(Duration::from_millis(200));
    let late = store.build(url).unwrap().due(1).await.unwrap_err();
    let reason = "PostgreSQL does not respond in time".to_owned();
    assert_eq!(late, StoreError::Unavailable(reason));
}

#[test]
#[ignore = "needs postgres"]
fn a_store_is_used_from_another_runtime_after_its_first_has_ended() {
    let server = PostgresServer::shared();
    let (store, _) = server.store();
    let task = task("owner", 1, b"1");
    let runtime = || {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        builder.enable_all().build().unwrap()
    };
    runtime()
        .block_on(store.insert(task.clone(), HOUR))
        .unwrap();
    let other = runtime();
    assert_eq!(other.block_on(store.remove(&task.id, 1)), Ok(true));
}
