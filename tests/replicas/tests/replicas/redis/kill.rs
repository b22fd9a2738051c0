//! Tasks in Redis, of processes that are killed at every point.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use treenail::tasks::{RedisStore, TaskStore};

use super::redis_server::RedisServer;
use super::store::DURABLE;
use crate::kill::{Place, check_each_point, check_random_points};

#[test]
#[ignore = "needs redis-server"]
fn redis_loses_and_doubles_nothing() {
    let redis = RedisServer::start_with(DURABLE);
    let (url, number) = (redis.url(), AtomicU64::new(0));
    let places = || {
        let (url, name) = (
            url.clone(),
            number.fetch_add(1, Ordering::Relaxed).to_string(),
        );
        Place {
            name: format!("{url} {name}"),
            store: Box::new(move || {
                Arc::new(RedisStore::new(&url).unwrap().server(&name)) as Arc<dyn TaskStore>
            }),
        }
    };
    check_each_point(&places);
    check_random_points(&places);
}
