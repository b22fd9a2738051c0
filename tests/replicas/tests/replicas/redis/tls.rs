//! Redis over TLS.

use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;
use treenail::tasks::{RedisStore, TaskStore};

#[tokio::test]
async fn a_failed_tls_handshake_is_reported() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    // Redis without TLS at this address.
    tokio::spawn(async move {
        loop {
            let (mut client, _) = listener.accept().await.unwrap();
            client.write_all(b"-ERR protocol error\r\n").await.unwrap();
        }
    });
    let store = RedisStore::new(format!("rediss://{address}")).unwrap();
    let error = store.due(1).await.unwrap_err().to_string();
    assert!(
        error.contains("the TLS handshake with Redis failed"),
        "{error}"
    );
}
