//! Streams of the legacy era that break off.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::broadcast;
use treenail_runtime::client::{ClientError, ClientLimits, HttpClientLimits, SessionRequest};

use super::ears::{Dialog, Heard, legacy, modern, serve, tool};
use super::legacy::usual;
use super::script::{Script, Told};
use crate::fixture::builder;

fn call(id: i64) -> SessionRequest {
    legacy(id, "tools/call", &tool("a", &json!({})))
}

/// The event that answers a request.
fn answer(id: i64) -> String {
    format!("data: {{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}\n\n")
}

/// A wire to somewhere else.
struct Wire {
    url: String,
    /// Cuts all connections.
    cut: broadcast::Sender<()>,
    /// How many connections there were.
    count: Arc<AtomicUsize>,
}

async fn wire_to(url: &str) -> Wire {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let target = url.split('/').nth(2).unwrap().to_owned();
    // Host and origin are those of the wire, which is loopback too.
    let wired = url.replace(&target, &address);
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
    Wire {
        url: wired,
        cut,
        count,
    }
}

#[tokio::test]
async fn a_call_goes_on_after_all_connections_were_cut() {
    let (server, url) = serve(builder()).await;
    let wire = wire_to(&url).await;
    let mut dialog = Dialog::legacy(&wire.url).await;
    let subscribe = legacy(1, "resources/subscribe", &json!({"uri": "notes://1"}));
    dialog.send(subscribe).await.unwrap();
    let asking = dialog.begin(legacy(2, "tools/call", &tool("ask", &json!({}))));
    let heard = dialog.heard().await;
    let Heard::Request(_, _, responder) = heard else {
        panic!("{heard:?}");
    };
    wire.cut.send(()).unwrap();
    server.resource_updated("notes://1");
    responder.respond(Ok(json!({"action": "accept"}).to_string()));
    let result = asking.await.unwrap().unwrap();
    assert!(result.contains("sure"), "CLI-LHTTP-06: {result}");
    let heard = dialog.heard().await;
    assert!(
        matches!(heard, Heard::Notification(..)),
        "CLI-LHTTP-06: {heard:?}"
    );
}

#[tokio::test]
async fn a_connection_is_used_again_after_a_stream() {
    let (_server, url) = serve(builder()).await;
    let wire = wire_to(&url).await;
    let dialog = Dialog::with(&wire.url);
    for id in 0..20 {
        let mut params = tool("count", &json!({"to": 2}));
        params["_meta"]["progressToken"] = id.into();
        dialog.send(modern(id, "tools/call", params)).await.unwrap();
    }
    // Some have to be opened because the end of a stream has not been seen yet.
    let connections = wire.count.load(Ordering::Relaxed);
    assert!(connections < 10, "{connections} connections for 20 streams");
}

#[tokio::test]
async fn a_server_that_is_polled_is_not_asked_early() {
    let mut gets = 0;
    let mut script = Script::new(move |asked| match (&*asked.method, asked.rpc()) {
        ("POST", "tools/call") => Told::stream("id: e-1\nretry: 250\ndata:\n\n"),
        ("GET", _) if asked.header("last-event-id").is_some() => {
            gets += 1;
            match gets {
                1 => Told::stream("id: e-2\ndata:\n\n"),
                _ => Told::stream(&format!("id: e-3\n{}", answer(1))),
            }
        }
        _ => usual(asked),
    })
    .await;
    let dialog = Dialog::legacy(&script.url).await;
    script.asked_to("GET").await;
    let begun = Instant::now();
    dialog.send(call(1)).await.unwrap();
    assert!(
        begun.elapsed() >= Duration::from_millis(500),
        "CLI-LHTTP-02, twice"
    );
    for id in ["e-1", "e-2"] {
        let asked = script.asked_to("GET").await;
        assert_eq!(
            asked.header("last-event-id"),
            Some(id),
            "CLI-LHTTP-03, CLI-LHTTP-06"
        );
        assert_eq!(asked.header("mcp-session-id"), Some("s-1"), "CLI-LHTTP-07");
        assert_eq!(
            asked.header("mcp-protocol-version"),
            Some("2025-11-25"),
            "CLI-LHTTP-10"
        );
    }
}

#[tokio::test]
async fn a_stream_is_not_asked_for_without_end() {
    // What is said to a request for the rest of a stream, how often it is asked for, and what the call comes to.
    let told: [fn() -> Told; 5] = [
        || Told::stream(": x\n\n"),
        || Told::response(503, "", ""),
        || Told::response(405, "", ""),
        || Told::response(400, "", ""),
        || Told::response(404, "", ""),
    ];
    let cases = [
        ("a stream without events", 2, "closed"),
        ("an error that may pass", 2, "closed"),
        ("no such stream", 1, "closed"),
        ("no such event", 1, "closed"),
        ("no such session", 1, "expired"),
    ];
    for (told, (name, times, expected)) in told.into_iter().zip(cases) {
        let mut script = Script::new(move |asked| match (&*asked.method, asked.rpc()) {
            ("POST", "tools/call") => Told::stream("id: e-1\nretry: 1\ndata:\n\n"),
            ("GET", _) if asked.header("last-event-id").is_some() => told(),
            _ => usual(asked),
        })
        .await;
        let limits = ClientLimits::default().http(HttpClientLimits::default().resume_attempts(2));
        let dialog = Dialog::within(&script.url, limits);
        dialog.initialize().await.unwrap();
        let outcome = match dialog.send(call(1)).await {
            Err(ClientError::Closed(_)) => "closed",
            Err(ClientError::SessionExpired) => "expired",
            other => panic!("{name}: {other:?}"),
        };
        assert_eq!(outcome, expected, "{name}");
        script.asked_to("tools/call").await;
        dialog.initialize().await.unwrap();
        let mut asked = 0;
        while script.asked().await.method == "GET" {
            asked += 1;
        }
        assert_eq!(asked, times, "{name}");
    }
}

#[tokio::test]
async fn a_stream_without_ids_is_lost() {
    let script = Script::new(|asked| match asked.rpc() {
        "tools/call" => Told::stream("retry: 1\ndata:\n\n"),
        _ => usual(asked),
    })
    .await;
    let dialog = Dialog::legacy(&script.url).await;
    let lost = dialog.send(call(1)).await;
    assert!(matches!(lost, Err(ClientError::Closed(_))), "{lost:?}");
}

#[tokio::test]
async fn an_answer_is_taken_from_any_stream_of_the_session() {
    let mut held = Vec::new();
    let mut own = None;
    let script = Script::new(move |asked| match (&*asked.method, asked.rpc()) {
        ("GET", _) => {
            let (told, more) = Told::open_stream(": x\n\n");
            own = Some(more);
            told
        }
        ("POST", "tools/call") => {
            let (told, more) = Told::open_stream("id: 1\ndata:\n\n");
            held.push(more);
            let own = own.as_ref().unwrap();
            let id = asked.body["id"].as_i64().unwrap();
            // Nobody waits for the first one.
            own.send(answer(99) + "data: {\n\n" + &answer(id)).unwrap();
            told
        }
        _ => usual(asked),
    });
    let mut script = script.await;
    let dialog = Dialog::legacy(&script.url).await;
    script.asked_to("GET").await;
    dialog.send(call(1)).await.unwrap();
    script.left.notified().await;
}

#[tokio::test]
async fn the_stream_of_a_session_is_held_open() {
    let mut gets = 0;
    let mut script = Script::new(move |asked| {
        if asked.method != "GET" {
            return usual(asked);
        }
        gets += 1;
        let told =
            |n| format!("data: {{\"jsonrpc\":\"2.0\",\"method\":\"notifications/{n}\"}}\n\n");
        match gets {
            1 => Told::stream(&format!("retry: 1\nid: e-1\n{}", told(1))),
            // The event is not known any more.
            2 => Told::response(400, "", ""),
            3 => Told::response(503, "", ""),
            4 => Told::stream(&told(2)),
            _ => Told::response(405, "", ""),
        }
    })
    .await;
    let mut dialog = Dialog::legacy(&script.url).await;
    for (last, why) in [
        (None, "CLI-LHTTP-05"),
        (Some("e-1"), "CLI-LHTTP-06"),
        (None, "after 400"),
        (None, "after 503"),
        (None, "after a stream without ids"),
    ] {
        let asked = script.asked_to("GET").await;
        assert_eq!(asked.header("last-event-id"), last, "{why}");
    }
    for expected in ["notifications/1", "notifications/2"] {
        let heard = dialog.heard().await;
        let Heard::Notification(method, params) = heard else {
            panic!("{heard:?}");
        };
        assert_eq!((&*method, params), (expected, json!({})));
    }
}
