//! Redis over TLS.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use treenail::tasks::{RedisStore, TaskStore};

#[tokio::test]
async fn a_failed_tls_handshake_is_reported() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    // Redis without TLS at this address.
    tokio::spawn(async move {
        let mut connected = Vec::new();
        loop {
            let (mut client, _) = listener.accept().await.unwrap();
            client.read_u8().await.unwrap();
            client.write_all(b"-ERR protocol error\r\n").await.unwrap();
            // Closed with unread data, it would reset the connection.
            connected.push(client);
        }
    });
    let store = RedisStore::new(format!("rediss://{address}")).unwrap();
    let error = store.due(1).await.unwrap_err().to_string();
    assert!(
        error.contains("the TLS handshake with Redis failed"),
        "{error}"
    );
}
