//! Connections of a session: streams outlive them, and they outlive streams.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::broadcast;

use super::listener::{Incoming, TestSession, legacy, modern, serve, tool};
use crate::fixture::builder;

/// TCP proxy to a server.
struct TcpProxy {
    url: String,
    /// Cuts all connections.
    cut: broadcast::Sender<()>,
    /// Number of accepted connections.
    count: Arc<AtomicUsize>,
}

async fn proxy_to(url: &str) -> TcpProxy {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let target = url.split('/').nth(2).unwrap().to_owned();
    // Host and origin are those of the proxy, which is on loopback too.
    let proxy_url = url.replace(&target, &address);
    let (cut, _) = broadcast::channel::<()>(1);
    let cuts = cut.clone();
    let count = Arc::<AtomicUsize>::default();
    let counted = Arc::clone(&count);
    tokio::spawn(async move {
        while let Ok((mut near, _)) = listener.accept().await {
            counted.fetch_add(1, Ordering::Relaxed);
            let (target, mut cut) = (target.clone(), cuts.subscribe());
            tokio::spawn(async move {
                let mut far = TcpStream::connect(target).await.unwrap();
                tokio::select! {
                    _ = copy_bidirectional(&mut near, &mut far) => {}
                    _ = cut.recv() => {}
                }
            });
        }
    });
    TcpProxy {
        url: proxy_url,
        cut,
        count,
    }
}

#[tokio::test]
async fn a_call_is_resumed_after_all_connections_were_cut() {
    let (server, url) = serve(builder()).await;
    let proxy = proxy_to(&url).await;
    let mut client = TestSession::legacy(&proxy.url).await;
    let subscribe = legacy(1, "resources/subscribe", &json!({"uri": "notes://1"}));
    client.send(subscribe).await.unwrap();
    let call = client.spawn(legacy(2, "tools/call", &tool("ask", &json!({}))));
    let incoming = client.next_incoming().await;
    let Incoming::Request(_, _, responder) = incoming else {
        panic!("{incoming:?}");
    };
    proxy.cut.send(()).unwrap();
    server.resource_updated("notes://1");
    responder.respond(Ok(json!({"action": "accept"}).to_string()));
    let result = call.await.unwrap().unwrap();
    assert!(result.contains("sure"), "CLI-LHTTP-06: {result}");
    let incoming = client.next_incoming().await;
    assert!(
        matches!(incoming, Incoming::Notification(..)),
        "CLI-LHTTP-06: {incoming:?}"
    );
}

#[tokio::test]
async fn a_connection_is_reused_after_a_stream() {
    let (_server, url) = serve(builder()).await;
    let proxy = proxy_to(&url).await;
    let client = TestSession::connect(&proxy.url);
    for id in 0..20 {
        let mut params = tool("count", &json!({"to": 2}));
        params["_meta"]["progressToken"] = id.into();
        client.send(modern(id, "tools/call", params)).await.unwrap();
    }
    // Some connections are new because the end of the previous stream was not read yet.
    let connections = proxy.count.load(Ordering::Relaxed);
    assert!(connections < 10, "{connections} connections for 20 streams");
}
