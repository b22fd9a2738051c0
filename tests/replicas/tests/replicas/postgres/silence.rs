//! Host of PostgreSQL that disappears without closing its connections. A relay is its network.

use std::future::pending;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, UnixStream};
use tokio::sync::watch;
use treenail::tasks::TaskStore;

use super::postgres_server::PostgresServer;

/// Number of connections of a store.
const CONNECTIONS: usize = 4;

/// Relays connections to a server. All that are open become silent once `silence` changes, and later ones work. `opened` counts them.
async fn relay(
    listener: TcpListener,
    server: Arc<PostgresServer>,
    silence: watch::Sender<()>,
    opened: watch::Sender<usize>,
) -> io::Result<()> {
    loop {
        let (mut client, _) = listener.accept().await?;
        opened.send_modify(|opened| *opened += 1);
        let (mut silent, socket) = (silence.subscribe(), server.socket());
        tokio::spawn(async move {
            let mut server = UnixStream::connect(socket).await?;
            tokio::select! {
                biased;
                // Both connections remain open.
                _ = silent.changed() => pending().await,
                _ = copy_bidirectional(&mut client, &mut server) => {}
            }
            Ok::<_, io::Error>(())
        });
    }
}

#[tokio::test]
#[ignore = "needs postgres"]
async fn a_lost_host_costs_one_timeout() {
    let server = PostgresServer::shared();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (silence, mut opened) = (watch::Sender::default(), watch::channel(0));
    tokio::spawn(relay(
        listener,
        Arc::clone(&server),
        silence.clone(),
        opened.0,
    ));
    let (builder, table) = PostgresServer::builder();
    let builder = builder
        .max_connections(CONNECTIONS)
        .timeout(Duration::from_secs(3));
    let url = format!("postgres://admin@{address}/postgres?sslmode=disable");
    let store = Arc::new(builder.build(url).unwrap());
    store.due(1).await.unwrap();

    // Each operation that waits for the lock holds a connection.
    let admin = server.admin().await;
    admin.run(&format!("BEGIN; LOCK TABLE {table}")).await;
    let waiting = [(); CONNECTIONS].map(|()| {
        let store = Arc::clone(&store);
        tokio::spawn(async move { store.due(1).await })
    });
    opened
        .1
        .wait_for(|opened| *opened == CONNECTIONS)
        .await
        .unwrap();
    admin.run("ROLLBACK").await;
    for waiting in waiting {
        assert_eq!(waiting.await.unwrap(), Ok(Vec::new()));
    }

    silence.send_replace(());
    let mut failed = 0;
    while let Err(error) = store.due(1).await {
        failed += 1;
        assert!(error.to_string().contains("in time"), "{error}");
    }
    assert_eq!(failed, 1);
}
