//! Servers that are unavailable at the start, disconnect, reconnect, and change.

use std::future::IntoFuture;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::task::JoinHandle;
use treenail::client::LineSession;
use treenail::dynamic::Tool;
use treenail::prelude::*;
use treenail::proxy::{Remote, Status};
use treenail::schema::Revision;
use treenail::server::Component;

use crate::station::{ERAS, LEGACY, MODERN, client_of, gateway, impatient, remote, station};

/// A server that can be switched off and on. Switching it off ends its connections.
struct Switch {
    on: AtomicBool,
    off: tokio::sync::Notify,
    server: Server,
}

impl Switch {
    fn new(server: Server) -> Arc<Self> {
        let (on, off) = (AtomicBool::new(false), tokio::sync::Notify::new());
        Arc::new(Self { on, off, server })
    }

    fn remote(self: &Arc<Self>) -> Remote {
        let switch = Arc::clone(self);
        Remote::new("st", move || {
            let builder = McpClient::builder().protocol_version(MODERN);
            if !switch.on.load(Ordering::SeqCst) {
                return builder;
            }
            let (ours, theirs) = tokio::io::duplex(1 << 16);
            let switch = Arc::clone(&switch);
            tokio::spawn(async move {
                let (reader, writer) = tokio::io::split(theirs);
                let off = switch.off.notified();
                let serving = switch.server.serve(reader, writer);
                tokio::pin!(off, serving);
                tokio::select! { () = &mut off => {}, _ = &mut serving => {} }
            });
            let (reader, writer) = tokio::io::split(ours);
            builder.session(Arc::new(LineSession::new(reader, writer)))
        })
    }

    fn turn_off(&self) {
        self.on.store(false, Ordering::SeqCst);
        self.off.notify_waiters();
    }
}

// In virtual time, no attempt to connect comes between two steps of the test.
#[tokio::test(start_paused = true)]
async fn a_server_may_be_away_at_the_start_go_away_and_come_back() {
    let (station, counters) = station();
    let switch = Switch::new(station);
    let (gateway, proxy) = gateway();
    let mounted = proxy.limits(impatient()).mount(switch.remote()).unwrap();
    assert!(matches!(mounted.ready().await, Status::Disconnected { .. }));
    let client = client_of(&gateway, MODERN)
        .auto_refresh(false)
        .build()
        .await
        .unwrap();
    assert!(client.tools().await.unwrap().is_empty());
    for _ in 0..2 {
        switch.on.store(true, Ordering::SeqCst);
        mounted.connected().await;
        let sum = client
            .call_tool("st.add", json!({"a": 1, "b": 2}))
            .await
            .unwrap();
        assert_eq!(sum.as_text(), Some("3"));
        // A call in flight fails with the connection.
        let call = tokio::spawn(client.session().tools_call("st.work", ()).into_future());
        counters.started.notified().await;
        switch.turn_off();
        let failed = call.await.unwrap().unwrap();
        assert_eq!(failed.is_error, Some(true));
        let text = failed.as_text().unwrap();
        assert!(
            text.starts_with("the server `st` did not answer: the connection is closed"),
            "{text}"
        );
        // The state and the next call have the same cause at once.
        let Status::Disconnected { cause, .. } = mounted.status() else {
            panic!("{}", mounted.status());
        };
        assert!(text.ends_with(&*cause), "{text}: {cause}");
        let failed = client.call_tool("st.greet", ()).await.unwrap();
        let expected = format!("the server `st` is not connected: {cause}");
        assert_eq!(failed.as_text(), Some(&*expected));
        mounted.disconnected().await;
        // Its features stay listed, and fail at once.
        client.refresh_tools().await.unwrap();
        assert!(client.tool("st.add").await.unwrap().is_some());
        let failed = client
            .call_tool("st.add", json!({"a": 1, "b": 2}))
            .await
            .unwrap();
        let text = failed.as_text().unwrap();
        assert!(
            text.starts_with("the server `st` is not connected: "),
            "{text}"
        );
        let error = client
            .get_prompt("st.trip", json!({"city": "Oslo"}))
            .await
            .unwrap_err();
        assert!(
            error
                .to_string()
                .contains("the server `st` is not connected: "),
            "{error}"
        );
    }
}

// In virtual time, the limit has passed as soon as nothing else happens.
#[tokio::test(start_paused = true)]
async fn a_proxy_is_ready_once_each_server_is_connected_or_has_failed_or_after_the_limit() {
    let (station, _) = station();
    let (gateway, proxy) = gateway();
    let up = proxy.mount(remote("up", &station, MODERN)).unwrap();
    let down = proxy
        .mount(Remote::new("down", McpClient::builder))
        .unwrap();
    proxy.ready(Duration::MAX).await;
    assert!(up.status().is_connected());
    assert!(matches!(down.status(), Status::Disconnected { .. }));
    let client = client_of(&gateway, LEGACY).build().await.unwrap();
    assert!(client.tool("up.add").await.unwrap().is_some());

    let (ours, _theirs) = tokio::io::duplex(1 << 16);
    let stream = std::sync::Mutex::new(Some(tokio::io::split(ours)));
    let silent = Remote::new("silent", move || {
        let (reader, writer) = stream.lock().unwrap().take().unwrap();
        McpClient::builder().session(Arc::new(LineSession::new(reader, writer)))
    });
    let silent = proxy.mount(silent).unwrap();
    proxy.ready(Duration::from_secs(1)).await;
    assert_eq!(silent.status(), Status::Connecting);
}

#[tokio::test]
async fn changes_of_a_server_are_changes_of_the_proxy() {
    for (caller, revision) in ERAS {
        let (station, _) = station();
        let (gateway, proxy) = gateway();
        let mounted = proxy
            .limits(impatient())
            .mount(remote("st", &station, revision))
            .unwrap();
        mounted.connected().await;
        let client = client_of(&gateway, caller)
            .auto_refresh(true)
            .build()
            .await
            .unwrap();
        assert!(client.tool("st.new").await.unwrap().is_none());
        // The subscriptions of the proxy and of the client take effect after a while.
        let mut present = false;
        for round in 0..1_000 {
            let tool = Tool::new(format!("new{round}")).handler(|_, _| async { "new" });
            station.edit(|edit| edit.add(tool)).unwrap();
            for _ in 0..20 {
                tokio::task::yield_now().await;
            }
            present = client.tool("st.new0").await.unwrap().is_some();
            if present {
                break;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        assert!(present, "{caller} {revision}");
        station
            .edit(|edit| edit.remove(Component::tool("add")))
            .unwrap();
        while client.tool("st.add").await.unwrap().is_some() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}

/// Serves a station over a stream, which is used once. Its task ends with the stream.
fn over_one_stream(
    station: Server,
    revision: Revision,
) -> (Remote, JoinHandle<treenail::Result<()>>) {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let served = tokio::spawn(async move {
        let (reader, writer) = tokio::io::split(theirs);
        station.serve(reader, writer).await
    });
    let stream = std::sync::Mutex::new(Some(ours));
    let remote = Remote::new("st", move || {
        let builder = McpClient::builder().protocol_version(revision);
        match stream.lock().unwrap().take() {
            Some(stream) => {
                let (reader, writer) = tokio::io::split(stream);
                builder.session(Arc::new(LineSession::new(reader, writer)))
            }
            None => builder,
        }
    });
    (remote, served)
}

#[tokio::test]
async fn a_closed_server_ends_the_connections_of_its_proxy() {
    let (station, _) = station();
    let (gateway, proxy) = gateway();
    let (remote, served) = over_one_stream(station, LEGACY);
    proxy.mount(remote).unwrap().connected().await;
    // The last reference to the server of the proxy.
    drop(proxy);
    drop(gateway);
    served.await.unwrap().unwrap();
}

#[tokio::test]
async fn unmounting_fails_calls_in_flight_and_closes_the_connection() {
    for revision in [LEGACY, MODERN] {
        let (station, counters) = station();
        let (gateway, proxy) = gateway();
        let (remote, served) = over_one_stream(station, revision);
        let mounted = proxy.mount(remote).unwrap();
        mounted.connected().await;
        let client = client_of(&gateway, MODERN).build().await.unwrap();
        let call = tokio::spawn(client.session().tools_call("st.work", ()).into_future());
        counters.started.notified().await;
        let copy = mounted.clone();
        mounted.unmount();
        let failed = call.await.unwrap().unwrap();
        assert_eq!(
            failed.as_text(),
            Some("the server `st` is not connected: it was unmounted"),
            "{revision}"
        );
        served.await.unwrap().unwrap();
        client.refresh_tools().await.unwrap();
        assert!(client.tools().await.unwrap().is_empty(), "{revision}");
        drop(copy);
    }
}

#[tokio::test]
async fn a_panic_of_a_function_of_a_mount_does_not_end_it() {
    let (station, _) = station();
    let (gateway, proxy) = gateway();
    let proxy = proxy.limits(impatient());
    let client = client_of(&gateway, MODERN).build().await.unwrap();
    let is_first = |called: &AtomicBool| !called.swap(true, Ordering::SeqCst);

    let (server, called) = (station.clone(), AtomicBool::new(false));
    let panicking = Remote::new("connect", move || {
        assert!(!is_first(&called), "first connection");
        client_of(&server, LEGACY)
    });
    let mounted = proxy.mount(panicking).unwrap();
    let Status::Disconnected { cause, .. } = mounted.ready().await else {
        panic!("{}", mounted.status());
    };
    assert!(cause.contains("failed unexpectedly"), "{cause}");
    mounted.connected().await;

    let called = AtomicBool::new(false);
    let filtered = remote("filter", &station, LEGACY).filter(move |_| {
        assert!(!is_first(&called), "first feature");
        true
    });
    let mounted = proxy.mount(filtered).unwrap();
    assert!(matches!(mounted.ready().await, Status::Connected { .. }));
    client.refresh_tools().await.unwrap();
    assert!(client.tool("filter.add").await.unwrap().is_none());
    assert!(client.tool("filter.work").await.unwrap().is_some());
    // The next change has the lists fetched again.
    let tool = Tool::new("new").handler(|_, _| async { "new" });
    station.edit(|edit| edit.add(tool)).unwrap();
    while client.tool("filter.add").await.unwrap().is_none() {
        client.refresh_tools().await.unwrap();
        tokio::task::yield_now().await;
    }
}
