//! Tasks in PostgreSQL, of processes that are killed at every point.

use std::sync::Arc;

use treenail::tasks::{PostgresStore, TaskStore};

use super::postgres_server::PostgresServer;
use crate::kill::{Place, check_each_point, check_random_points};

#[test]
#[ignore = "needs postgres"]
fn postgres_loses_and_doubles_nothing() {
    let server = PostgresServer::shared();
    let places = || {
        let (_, table) = PostgresServer::builder();
        let url = server.url();
        Place {
            name: format!("{url} {table}"),
            store: Box::new(move || {
                let store = PostgresStore::builder().table(&table).build(&url).unwrap();
                Arc::new(store) as Arc<dyn TaskStore>
            }),
        }
    };
    check_each_point(&places);
    check_random_points(&places);
}
