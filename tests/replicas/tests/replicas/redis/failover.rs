//! Failover: another Redis takes over the address, and the former one keeps its connections.

use treenail::tasks::{RedisStore, TaskStore};

use super::redis_server::RedisServer;
use crate::stores::{HOUR, task};

#[tokio::test]
#[ignore = "needs redis-server"]
async fn a_store_leaves_a_former_primary() {
    let demotion: &[&[u8]] = &[b"REPLICAOF", b"127.0.0.1", b"1"];
    let isolation: &[&[u8]] = &[b"CONFIG", b"SET", b"min-replicas-to-write", b"1"];
    for change in [demotion, isolation] {
        let (former, successor) = (RedisServer::start(), RedisServer::start());
        let store = RedisStore::new(former.url()).unwrap();
        store.insert(task("owner", 1, b"1"), HOUR).await.unwrap();
        assert_eq!(former.command(change), "+OK\r\n");
        successor.take_address_of(&former);
        // The first write may still reach the former primary, which refuses it.
        drop(store.insert(task("owner", 2, b"2"), HOUR).await);
        store.insert(task("owner", 3, b"3"), HOUR).await.unwrap();
    }
}
