//! Task store in a real PostgreSQL.

use std::sync::Arc;
use std::time::Duration;

use treenail::tasks::{PostgresStore, StoreError, StoreUsage, TaskStore, test_kit};

use super::postgres_server::PostgresServer;
use crate::log::Log;
use crate::stores::{HOUR, check_separate, task};

/// Part of a URL.
const SERIALIZABLE: &str = "?options=-c%20default_transaction_isolation%3Dserializable";

/// Creates stores with an empty table.
fn open<const N: usize>(url: &str) -> [Arc<dyn TaskStore>; N] {
    let (builder, _) = PostgresServer::builder();
    [(); N].map(|()| Arc::new(builder.clone().build(url).unwrap()) as Arc<dyn TaskStore>)
}

async fn check_all(url: &str) {
    test_kit::check_store(async || {
        let [store] = open(url);
        store
    })
    .await;
    test_kit::check_shared_store(async || open(url)).await;
}

#[tokio::test]
#[ignore = "needs postgres"]
async fn every_rule_of_stores_holds() {
    let server = PostgresServer::shared();
    check_all(&server.url()).await;
}

#[tokio::test]
#[ignore = "needs postgres"]
async fn every_rule_of_stores_holds_with_serializable_transactions() {
    let server = PostgresServer::shared();
    check_all(&(server.url() + SERIALIZABLE)).await;
}

#[tokio::test]
#[ignore = "needs postgres"]
async fn every_rule_of_stores_holds_in_a_database_without_an_encoding() {
    let server = PostgresServer::shared();
    let create = "CREATE DATABASE bytes ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0";
    server.admin().await.run(create).await;
    let url = server.url();
    let url = url.strip_suffix("postgres").unwrap();
    check_all(&format!("{url}bytes")).await;
}

#[tokio::test]
#[ignore = "needs postgres"]
async fn tables_with_other_names_have_other_tasks() {
    let server = PostgresServer::shared();
    let ((here, _), (there, _)) = (server.store(), server.store());
    check_separate(&here, &there).await;
}

#[tokio::test]
#[ignore = "needs postgres"]
async fn one_of_many_replicas_wins() {
    let server = PostgresServer::shared();
    let replicas: [Arc<dyn TaskStore>; 8] = open(&server.url());
    for round in 0..20 {
        let first = task("owner", round, b"1");
        replicas[0].insert(first.clone(), HOUR).await.unwrap();
        let racing = replicas.iter().enumerate().map(|(number, replica)| {
            let (replica, mut next) = (Arc::clone(replica), first.clone());
            next.version = 2;
            next.body = vec![b'1'; number];
            tokio::spawn(async move { replica.replace(next, HOUR).await.unwrap() })
        });
        let mut winners = Vec::new();
        for (number, racing) in racing.collect::<Vec<_>>().into_iter().enumerate() {
            winners.extend(racing.await.unwrap().then_some(number));
        }
        assert_eq!(winners.len(), 1, "{winners:?}");
        let stored = replicas[0].get(&first.id).await.unwrap().unwrap();
        assert_eq!((stored.version, stored.body.len()), (2, winners[0]));
        let usage = replicas[1].usage("owner").await;
        assert_eq!(usage, Ok(StoreUsage::new(1, winners[0] as u64)));
        assert_eq!(replicas[2].remove(&first.id, 2).await, Ok(true));
    }
}

/// Stores and replaces 20 tasks of an owner, and removes half of them.
async fn work(store: Arc<dyn TaskStore>, owner: &'static str) {
    for created_ms in 0..20 {
        let first = task(owner, created_ms, b"1");
        let mut second = first.clone();
        (second.version, second.body) = (2, b"22".to_vec());
        store.insert(first.clone(), HOUR).await.unwrap();
        assert_eq!(store.replace(second, HOUR).await, Ok(true));
        if created_ms % 2 == 0 {
            assert_eq!(store.remove(&first.id, 2).await, Ok(true));
        }
    }
}

#[tokio::test]
#[ignore = "needs postgres"]
async fn changes_of_owners_are_counted_without_deadlocks() {
    let server = PostgresServer::shared();
    let replicas: [Arc<dyn TaskStore>; 4] = open(&server.url());
    let working = (0..32).map(|number| {
        let store = Arc::clone(&replicas[number % 4]);
        tokio::spawn(work(store, ["", "a", "b"][number % 3]))
    });
    for working in working.collect::<Vec<_>>() {
        working.await.unwrap();
    }
    for (owner, workers) in [("", 11), ("a", 11), ("b", 10)] {
        let usage = replicas[0].usage(owner).await;
        assert_eq!(
            usage,
            Ok(StoreUsage::new(workers * 10, workers * 20)),
            "{owner}"
        );
    }
}

#[tokio::test]
#[ignore = "needs postgres"]
async fn rows_that_an_administrator_removes_are_counted() {
    let server = PostgresServer::shared();
    let ((store, table), admin) = (server.store(), server.admin().await);
    for created_ms in 0..10 {
        let task = task("owner", created_ms, b"12");
        store.insert(task, HOUR).await.unwrap();
    }
    let remove = format!("DELETE FROM {table} WHERE created_ms < 4");
    // The administrator may have another search path.
    let remove = format!(
        "SET search_path = pg_catalog; {}",
        remove.replace(&table, &format!("public.{table}"))
    );
    admin.run(&remove).await;
    assert_eq!(store.usage("owner").await, Ok(StoreUsage::new(6, 12)));
    admin.run(&format!("TRUNCATE public.{table}")).await;
    assert_eq!(store.usage("owner").await, Ok(StoreUsage::default()));
    let rows = format!("SELECT count(*) FROM public.{table}_usage");
    assert_eq!(admin.run(&rows).await, ["0"]);
}

#[tokio::test]
#[ignore = "needs postgres"]
async fn damaged_records_hide_no_others() {
    let (log, _guard) = Log::record();
    let server = PostgresServer::shared();
    let ((store, table), admin) = (server.store(), server.admin().await);
    let mut tasks = Vec::new();
    for created_ms in 0..40 {
        let task = task("owner", created_ms, b"1");
        store.insert(task.clone(), Duration::ZERO).await.unwrap();
        tasks.push(task);
    }
    let last = tasks.pop().unwrap();
    for (number, task) in tasks.iter().enumerate() {
        let damage = match number % 3 {
            0 => "version = -1",
            1 => "owner = '\\xff'",
            _ => "id = id || 'x'",
        };
        let id = task.id.as_str();
        admin
            .run(&format!("UPDATE {table} SET {damage} WHERE id = '{id}'"))
            .await;
    }
    assert_eq!(store.due(1).await, Ok(vec![last.clone()]));
    assert_eq!(store.list("owner", None, 1).await, Ok(vec![last.clone()]));
    assert!(log.text().contains("damaged records"), "{}", log.text());
    for (number, task) in tasks.iter().enumerate() {
        let expected = match number % 3 {
            2 => Ok(None),
            _ => Err(StoreError::Other("a record is damaged".to_owned())),
        };
        assert_eq!(store.get(&task.id).await, expected, "{number}");
        assert_eq!(store.state(&task.id).await, expected, "{number}");
    }
}

#[tokio::test]
#[ignore = "needs postgres"]
async fn long_bodies_are_refused_and_not_read() {
    let server = PostgresServer::shared();
    let (builder, _) = PostgresServer::builder();
    let open = |max| builder.clone().max_body_bytes(max).build(server.url());
    let (long, short): (PostgresStore, _) = (open(1 << 20).unwrap(), open(100_000).unwrap());
    let stored = task("owner", 1, &vec![b'1'; 200_000]);
    let reason = "the state or the body of a task has more than 100000 bytes".to_owned();
    let refused = short.insert(stored.clone(), HOUR).await;
    assert_eq!(refused, Err(StoreError::Full(reason)));
    long.insert(stored.clone(), Duration::ZERO).await.unwrap();
    let next = task("owner", 2, &vec![b'1'; 100_000]);
    long.insert(next.clone(), Duration::ZERO).await.unwrap();
    let reason = "a record is damaged".to_owned();
    assert_eq!(short.get(&stored.id).await, Err(StoreError::Other(reason)));
    assert_eq!(short.due(10).await, Ok(vec![next]));
    let mut polled = stored.clone();
    polled.body.clear();
    assert_eq!(
        short.state(&stored.id).await,
        Ok(Some(polled)),
        "a poll does not read the body"
    );
    assert_eq!(long.get(&stored.id).await, Ok(Some(stored)));
    let long_owner = task(&"o".repeat(100_001), 1, b"1");
    assert!(matches!(
        short.insert(long_owner, HOUR).await,
        Err(StoreError::Full(_))
    ));
}
