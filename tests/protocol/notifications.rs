//! Notifications during a call: progress and log messages, and none after its end.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::task::block_in_place;
use treenail::prelude::*;
use treenail::schema::LoggingLevel;
use treenail::{Limits, Server};

use crate::support::covering::{covering, covering_one};
use crate::support::peer::{MODERN, Peer, error};

struct Reporter {
    /// Releases `outlive`.
    gate: Arc<Semaphore>,
    /// Gets a permit when the task that `outlive` spawned has ended.
    over: Arc<Semaphore>,
}

#[mcp_tool]
impl Reporter {
    #[tool]
    async fn count(&self, cx: &Context, to: u32) -> u32 {
        for done in 1..=to {
            cx.progress(done)
                .total(to)
                .message(format!("{done} of {to}"))
                .await;
            // Progress that does not increase is not sent.
            cx.progress(done).await;
            cx.progress(f64::from(done) - 0.5).await;
        }
        to
    }

    #[tool]
    fn count_at_once(cx: &Context) -> bool {
        cx.is_finished()
    }

    #[tool(blocking)]
    fn count_blocking(cx: &Context, to: u32) -> u32 {
        for done in 1..=to {
            cx.progress(done)
                .total(to)
                .message(format!("{done} of {to}"))
                .send_blocking();
        }
        to
    }

    #[tool]
    #[expect(deprecated, reason = "ALL-DEP-03: the compiler warns of it")]
    async fn log(&self, cx: &Context) {
        cx.log(LoggingLevel::Debug, "details").await;
        cx.log(LoggingLevel::Info, json!({"step": 1})).await;
        cx.log(LoggingLevel::Error, "failed").await;
    }

    /// Blocks its thread until it is released, and then sends without a further poll.
    #[tool]
    async fn report_late(&self, cx: &Context) {
        tokio::task::yield_now().await;
        self.over.add_permits(1);
        let released = || Handle::current().block_on(self.gate.acquire());
        block_in_place(released)
            .expect("the gate is never closed")
            .forget();
        for step in 1..=20 {
            cx.progress(step).await;
        }
        self.over.add_permits(1);
    }

    #[tool]
    async fn outlive(&self, cx: &Context) -> String {
        let (clone, over) = (cx.clone(), Arc::clone(&self.over));
        tokio::spawn(async move {
            clone.finished().await;
            assert!(clone.is_finished());
            clone.progress(99).await;
            over.add_permits(1);
        });
        cx.progress(1).await;
        self.gate
            .acquire()
            .await
            .expect("the gate is never closed")
            .forget();
        "done".to_owned()
    }
}

struct Fixture {
    server: Server,
    gate: Arc<Semaphore>,
    over: Arc<Semaphore>,
}

fn fixture(limits: Limits) -> Fixture {
    let (gate, over) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
    let reporter = Reporter {
        gate: Arc::clone(&gate),
        over: Arc::clone(&over),
    };
    let server = treenail::server!()
        .mount(reporter)
        .limits(limits)
        .build()
        .unwrap();
    Fixture { server, gate, over }
}

/// Returns whether the steps from 1 to 20 are reported in order.
fn check_progress(notifications: &[Value], token: &Value) {
    for (done, notification) in (1..).zip(notifications) {
        let message = format!("{done} of 20");
        let params =
            json!({"progressToken": token, "progress": done, "total": 20, "message": message});
        assert_eq!(notification["params"], params);
    }
}

#[tokio::test]
async fn progress_is_sent_on_request_and_increases() {
    // Also if the queue has room for only one message.
    for queued_messages in [1, 64] {
        let server = fixture(Limits::default().queued_messages(queued_messages)).server;
        for revision in covering("SRV-PROG-01, SRV-PROG-02, SRV-PROG-03, SRV-PROG-04") {
            let mut peer = Peer::connect(&server, revision).await;
            for (name, token) in [
                ("count", json!(7)),
                ("count", json!("seven")),
                ("count_blocking", json!(8)),
            ] {
                let params = json!({"name": name, "arguments": {"to": 20}, "_meta": {"progressToken": token}});
                let (notifications, answer) =
                    peer.request_with_notifications("tools/call", params).await;
                assert_eq!(answer["result"]["content"][0]["text"], "20");
                assert_eq!(notifications.len(), 20);
                check_progress(&notifications, &token);
            }
            for meta in [
                json!({}),
                json!({"progressToken": null}),
                json!({"progressToken": [1]}),
            ] {
                let params = json!({"name": "count", "arguments": {"to": 20}, "_meta": meta});
                let (notifications, _) =
                    peer.request_with_notifications("tools/call", params).await;
                assert_eq!(notifications, [] as [Value; 0], "{meta}");
            }
        }
    }
}

#[tokio::test]
async fn nothing_is_sent_after_the_end_of_a_call() {
    // The call ends with a response or a cancellation.
    let revisions = covering("SRV-PROG-05, SRV-CANC-03");
    let each = revisions
        .iter()
        .flat_map(|revision| [(revision, false), (revision, true)]);
    for (&revision, cancelled) in each {
        let fixture = fixture(Limits::default());
        let mut peer = Peer::connect(&fixture.server, revision).await;
        let params = json!({"name": "outlive", "_meta": {"progressToken": 1}});
        let id = peer.begin("tools/call", params).await;
        assert_eq!(peer.receive_any().await.unwrap()["params"]["progress"], 1);
        if cancelled {
            peer.cancel(id).await;
        } else {
            fixture.gate.add_permits(1);
            assert_eq!(peer.receive("tools/call").await["id"], id);
        }
        fixture.over.acquire().await.unwrap().forget();
        assert_eq!(peer.finish().await, [] as [Value; 0]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancelled_call_that_still_runs_sends_nothing() {
    for revision in covering("SRV-CANC-03, SRV-STDIO-05") {
        let fixture = fixture(Limits::default());
        let mut peer = Peer::connect(&fixture.server, revision).await;
        let params = json!({"name": "report_late", "_meta": {"progressToken": 1}});
        let id = peer.begin("tools/call", params).await;
        fixture.over.acquire().await.unwrap().forget();
        peer.cancel(id).await;
        // Its response shows that the cancellation has been handled.
        peer.told_nothing().await;
        fixture.gate.add_permits(1);
        fixture.over.acquire().await.unwrap().forget();
        // Other calls send.
        let params =
            json!({"name": "count", "arguments": {"to": 2}, "_meta": {"progressToken": 2}});
        let (notifications, _) = peer.request_with_notifications("tools/call", params).await;
        let tokens: Vec<_> = notifications
            .iter()
            .map(|it| &it["params"]["progressToken"])
            .collect();
        assert_eq!(tokens, [2, 2], "SRV-STDIO-05");
        assert_eq!(peer.finish().await, [] as [Value; 0], "SRV-STDIO-05");
    }
}

#[tokio::test]
async fn a_call_has_not_ended_while_its_function_runs() {
    let mut peer = Peer::connect(&fixture(Limits::default()).server, MODERN).await;
    assert_eq!(
        peer.call("count_at_once", json!({})).await["structuredContent"],
        false
    );
}

async fn logged(peer: &mut Peer, meta: Value) -> Vec<String> {
    let (notifications, _) = peer
        .request_with_notifications("tools/call", json!({"name": "log", "_meta": meta}))
        .await;
    notifications
        .iter()
        .map(|message| message["params"]["level"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn a_legacy_client_sets_the_level_of_its_session() {
    // CLI-LOG-01
    for revision in covering("SRV-LOG-06 until 2025-11-25") {
        let mut peer = Peer::connect(&fixture(Limits::default()).server, revision).await;
        assert_eq!(logged(&mut peer, json!({})).await, ["info", "error"]);
        for (level, expected) in [
            ("debug", &["debug", "info", "error"][..]),
            ("warning", &["error"]),
            ("alert", &[]),
        ] {
            let answer = peer
                .request("logging/setLevel", json!({"level": level}))
                .await;
            assert_eq!(answer["result"], json!({}));
            assert_eq!(logged(&mut peer, json!({})).await, expected);
        }
        for params in [json!({}), json!({"level": "loud"}), json!({"level": 3})] {
            assert_eq!(
                error(&peer.request("logging/setLevel", params).await).0,
                -32602
            );
        }
    }
}

#[tokio::test]
async fn modern_clients_request_logs_per_request() {
    let revision =
        covering_one("SRV-LOG-03, SRV-LOG-04, SRV-LOG-06, SRV-LOG-07, ALL-DEP-02 in 2026-07-28");
    let mut peer = Peer::connect(&fixture(Limits::default()).server, revision).await;
    let level = |level: &str| json!({"io.modelcontextprotocol/logLevel": level});
    assert_eq!(logged(&mut peer, json!({})).await, [] as [&str; 0]);
    assert_eq!(
        logged(&mut peer, level("debug")).await,
        ["debug", "info", "error"]
    );
    assert_eq!(logged(&mut peer, level("error")).await, ["error"]);
    assert_eq!(logged(&mut peer, json!({})).await, [] as [&str; 0]);
    let params = json!({"name": "log", "_meta": level("loud")});
    let (code, message) = peer.refused("tools/call", params).await;
    assert_eq!(code, -32602);
    assert!(
        message.starts_with("unknown log level `\"loud\"`; expected one of debug, info"),
        "{message}"
    );
}
