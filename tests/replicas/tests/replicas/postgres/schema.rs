//! Creation and versions of the tables, and rights to them.

use std::time::Duration;

use treenail::tasks::{PostgresStore, StoreError, TaskStore};

use super::postgres_server::PostgresServer;
use crate::stores::{HOUR, task};

#[tokio::test]
#[ignore = "needs postgres"]
async fn replicas_that_start_together_create_the_tables_once() {
    let server = PostgresServer::shared();
    for _ in 0..5 {
        let (builder, _) = PostgresServer::builder();
        let starting = (0..12).map(|created_ms| {
            let store = builder.clone().build(server.url()).unwrap();
            tokio::spawn(async move { store.insert(task("owner", created_ms, b"1"), HOUR).await })
        });
        for starting in starting.collect::<Vec<_>>() {
            assert_eq!(starting.await.unwrap(), Ok(()));
        }
        let store = builder.build(server.url()).unwrap();
        assert_eq!(store.usage("owner").await.map(|usage| usage.tasks), Ok(12));
    }
}

#[tokio::test]
#[ignore = "needs postgres"]
async fn tables_of_another_version_are_refused() {
    let server = PostgresServer::shared();
    let ((store, table), admin) = (server.store(), server.admin().await);
    store.due(1).await.unwrap();
    admin
        .run(&format!("UPDATE {table}_format SET version = 2"))
        .await;
    let newer = PostgresStore::builder()
        .table(&table)
        .build(server.url())
        .unwrap();
    let reason = "the tables have version 2 of the task store, and this program supports version 1; use a newer program or \
                  another table";
    assert_eq!(
        newer.due(1).await,
        Err(StoreError::Other(reason.to_owned()))
    );
    admin
        .run(&format!("UPDATE {table}_format SET version = 1"))
        .await;
    assert_eq!(newer.due(1).await, Ok(Vec::new()));
}

#[tokio::test]
#[ignore = "needs postgres"]
async fn tables_of_other_programs_are_left_alone() {
    let server = PostgresServer::shared();
    let ((store, table), admin) = (server.store(), server.admin().await);
    admin
        .run(&format!("CREATE TABLE {table} (id integer)"))
        .await;
    let reason = "the table belongs to another program; use another name";
    assert_eq!(
        store.due(1).await,
        Err(StoreError::Other(reason.to_owned()))
    );
    let found = format!("SELECT to_regclass('{table}_usage') IS NULL");
    assert_eq!(admin.run(&found).await, ["t"]);
}

#[tokio::test]
#[ignore = "needs postgres"]
async fn tables_that_were_dropped_are_created_again() {
    let server = PostgresServer::shared();
    let ((store, table), admin) = (server.store(), server.admin().await);
    store.due(1).await.unwrap();
    admin
        .run(&format!(
            "DROP TABLE {table}, {table}_usage, {table}_format"
        ))
        .await;
    let builder = PostgresStore::builder().table(&table);
    let next = builder.build(server.url()).unwrap();
    let task = task("owner", 1, b"1");
    next.insert(task.clone(), Duration::ZERO).await.unwrap();
    assert_eq!(next.due(1).await, Ok(vec![task]));
}

#[tokio::test]
#[ignore = "needs postgres"]
async fn tables_can_be_in_a_schema() {
    let server = PostgresServer::shared();
    let store = PostgresStore::builder()
        .table("hotel.tasks")
        .build(server.url())
        .unwrap();
    let missing = store.due(1).await.unwrap_err().to_string();
    assert!(
        missing.contains("schema of the table does not exist"),
        "{missing}"
    );
    let admin = server.admin().await;
    admin.run("CREATE SCHEMA hotel").await;
    let task = task("owner", 1, b"1");
    store.insert(task.clone(), Duration::ZERO).await.unwrap();
    assert_eq!(
        admin.run("SELECT id FROM hotel.tasks").await,
        [task.id.as_str()]
    );
    assert_eq!(store.due(1).await, Ok(vec![task]));
}

#[tokio::test]
#[ignore = "needs postgres"]
async fn the_documented_rights_are_enough() {
    let server = PostgresServer::shared();
    let ((store, table), admin) = (server.store(), server.admin().await);
    admin.run("CREATE ROLE worker LOGIN").await;
    let builder = PostgresStore::builder().table(&table);
    let worker = builder.build(server.url_of("worker")).unwrap();
    let forbidden = worker.due(1).await.unwrap_err().to_string();
    assert!(forbidden.contains("lacks a permission"), "{forbidden}");
    store.due(1).await.unwrap();
    let grant = format!(
        "GRANT SELECT, INSERT, UPDATE, DELETE ON {table}, {table}_usage TO worker; GRANT SELECT ON {table}_format TO worker"
    );
    admin.run(&grant).await;
    let first = task("owner", 1, b"1");
    let mut second = first.clone();
    (second.version, second.body) = (2, b"22".to_vec());
    worker.insert(first.clone(), HOUR).await.unwrap();
    assert_eq!(
        worker.replace(second.clone(), Duration::ZERO).await,
        Ok(true)
    );
    assert_eq!(worker.due(10).await, Ok(vec![second.clone()]));
    assert_eq!(worker.list("owner", None, 10).await, Ok(vec![second]));
    assert_eq!(worker.usage("owner").await.map(|usage| usage.bytes), Ok(2));
    assert_eq!(worker.remove(&first.id, 2).await, Ok(true));
    assert_eq!(worker.usage("owner").await.map(|usage| usage.tasks), Ok(0));
}
