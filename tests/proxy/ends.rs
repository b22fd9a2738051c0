//! Ends of a proxy, of its mounts and of its server: connections are closed gracefully in every state.

use std::future::IntoFuture;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;
use treenail::client::{ClientLimits, McpClientBuilder, Session, SessionFuture, SessionWrapper};
use treenail::prelude::*;
use treenail::proxy::Remote;

use crate::questions::settle;
use crate::script::scripted;
use crate::station::{LEGACY, MODERN, client_of, gateway, station};

/// Session that counts its graceful ends.
#[derive(Debug)]
struct Counted {
    session: Arc<dyn Session>,
    closed: Arc<AtomicUsize>,
}

impl SessionWrapper for Counted {
    fn inner(&self) -> &dyn Session {
        &*self.session
    }

    fn close(&self) -> SessionFuture<'_, ()> {
        Box::pin(async {
            self.session.close().await?;
            self.closed.fetch_add(1, Ordering::SeqCst);
            Ok(())
        })
    }
}

fn counted(builder: McpClientBuilder, closed: &Arc<AtomicUsize>) -> McpClientBuilder {
    let closed = Arc::clone(closed);
    builder.wrap_session(move |session| {
        let closed = Arc::clone(&closed);
        Arc::new(Counted { session, closed })
    })
}

#[tokio::test]
async fn closing_a_proxy_waits_for_the_end_of_all_connections() {
    for revision in [LEGACY, MODERN] {
        let (station, _) = station();
        let (gateway, proxy) = gateway();
        let closed = Arc::default();
        let mut mounts = Vec::new();
        for name in ["one", "two", "three"] {
            let (station, closed) = (station.clone(), Arc::clone(&closed));
            let remote = Remote::new(name, move || {
                counted(client_of(&station, revision), &closed)
            });
            let mounted = proxy.mount(remote).unwrap();
            mounted.connected().await;
            mounts.push(mounted);
        }
        mounts.remove(0).unmount();
        tokio::join!(proxy.close(), proxy.close());
        assert_eq!(closed.load(Ordering::SeqCst), 3, "{revision}");
        assert!(proxy.mounts().is_empty());
        let client = client_of(&gateway, revision).build().await.unwrap();
        assert!(client.tools().await.unwrap().is_empty(), "{revision}");
    }
}

#[tokio::test]
async fn a_server_that_is_not_connected_yet_is_closed_too() {
    for silent in ["initialize", "tools/list"] {
        let (closed, reached) = (Arc::default(), Arc::<Notify>::default());
        let (count, noted) = (Arc::clone(&closed), Arc::clone(&reached));
        let remote = Remote::new("script", move || {
            let reached = Arc::clone(&noted);
            let react = move |message: &Value, line: &crate::script::Line| {
                if message["method"] == silent {
                    reached.notify_one();
                } else if message.get("id").is_some() {
                    let result = json!({
                        "protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                        "serverInfo": {"name": "script", "version": "1"},
                    });
                    line.answer(message, &result);
                }
                true
            };
            let builder = scripted(Box::new(react), &ClientLimits::default());
            counted(builder.protocol_version(LEGACY), &count)
        });
        let (_gateway, proxy) = gateway();
        proxy.mount(remote).unwrap();
        reached.notified().await;
        proxy.close().await;
        assert_eq!(closed.load(Ordering::SeqCst), 1, "{silent}");
    }
}

#[tokio::test]
async fn a_server_that_is_closed_closes_its_connections_after_the_calls_in_flight() {
    let (station, counters) = station();
    let (gateway, proxy) = gateway();
    let closed = Arc::default();
    let count = Arc::clone(&closed);
    let remote = Remote::new("st", move || counted(client_of(&station, MODERN), &count));
    let mut mounted = proxy.mount(remote).unwrap();
    mounted.connected().await;
    let client = client_of(&gateway, MODERN).build().await.unwrap();
    let call = tokio::spawn(client.session().tools_call("st.work", ()).into_future());
    counters.started.notified().await;
    gateway.close();
    settle().await;
    assert_eq!(closed.load(Ordering::SeqCst), 0);
    counters.finish.add_permits(1);
    let result = call.await.unwrap().unwrap();
    assert_eq!(result.as_text(), Some("done"));
    while mounted.changed().await.is_some() {}
    assert_eq!(closed.load(Ordering::SeqCst), 1);
}
