//! Requests of extensions are calls: parameters, results, failures, cancellation and bounds.

use std::sync::{Arc, Mutex};

use treenail::Limits;
use treenail::context::{Extensions, Principal};
use treenail::observe::{Observation, ObservedRequest, Outcome, ServerObserver};
use treenail::prelude::*;
use treenail::schema::Revision;

use super::jobs::{ID, Signals, builder, connect, declared, server};
use crate::support::peer::{MODERN, Peer, error};

#[tokio::test]
async fn problems_of_parameters_name_the_method_and_the_member() {
    for revision in [Revision::LATEST_LEGACY, MODERN] {
        let mut peer = connect(&server(), revision).await;
        for (params, expected) in [
            (
                json!({}),
                "invalid `params` for `jobs/add`: missing field `a`",
            ),
            (
                json!({"a": "x"}),
                "invalid `params` for `jobs/add`: `a`: invalid type: string \"x\", expected i64",
            ),
            (
                json!({"a": 1, "more": [1, null]}),
                "invalid `params` for `jobs/add`: `more[1]`: invalid type: null, expected i64",
            ),
            (json!({"a": 1, "b": 2}), "unknown field `b`"),
        ] {
            let (code, message) = peer.refused("jobs/add", params).await;
            assert_eq!(code, -32602, "{message}");
            assert!(message.contains(expected), "{message}");
        }
    }
}

#[tokio::test]
async fn results_have_the_members_of_their_revision() {
    for revision in Revision::ALL {
        let mut peer = connect(&server(), revision).await;
        let added = peer
            .request("jobs/add", json!({"a": 1, "more": [2, 3]}))
            .await;
        let other = peer.request("jobs/other", json!({})).await;
        let nothing = peer.request("jobs/nothing", json!({})).await;
        if revision.is_modern() {
            assert_eq!(added["result"]["resultType"], "complete");
            assert_eq!(nothing["result"]["resultType"], "complete");
            let meta = &other["result"]["_meta"];
            assert_eq!(meta["com.example/a"], 1);
            assert_ne!(meta["io.modelcontextprotocol/serverInfo"], Value::Null);
        } else {
            assert_eq!(added["result"], json!({"sum": 6}));
            assert_eq!(nothing["result"], json!({}));
        }
        assert_eq!(added["result"]["sum"], 6);
        assert_eq!(other["result"]["resultType"], "job", "its own type stays");
        assert_eq!(other["result"]["n"].to_string(), "1.5");
    }
}

#[tokio::test]
async fn failures_are_errors_and_the_next_request_is_served() {
    for revision in [Revision::LATEST_LEGACY, MODERN] {
        let mut peer = connect(&server(), revision).await;
        let answer = peer.request("jobs/add", json!({"a": -1})).await;
        assert_eq!(error(&answer), (7, "negative".to_owned()));
        assert_eq!(answer["error"]["data"], json!({"a": -1}));
        let failing = peer.refused("jobs/failing", json!({})).await;
        assert_eq!(failing, (-32603, "out of jobs".to_owned()));
        let (code, message) = peer.refused("jobs/panics", json!({})).await;
        assert_eq!(code, -32603);
        assert!(!message.contains("secret"), "{message}");
        let (code, message) = peer.refused("jobs/broken", json!({})).await;
        assert_eq!(code, -32603);
        assert!(message.contains("`jobs/broken`"), "{message}");
        let answer = peer.request("jobs/add", json!({"a": 1})).await;
        assert_eq!(answer["result"]["sum"], 1);
    }
}

#[tokio::test]
async fn a_cancelled_request_is_dropped() {
    for revision in [Revision::LATEST_LEGACY, MODERN] {
        let signals = Signals::default();
        let server = builder(&signals).build().unwrap();
        let mut peer = connect(&server, revision).await;
        let id = peer.begin("jobs/wait", json!({})).await;
        signals.begun.notified().await;
        peer.cancel(id).await;
        signals.ended.notified().await;
        peer.told_nothing().await;
    }
}

#[tokio::test]
async fn requests_count_as_calls_in_flight() {
    for revision in [Revision::LATEST_LEGACY, MODERN] {
        let signals = Signals::default();
        let limits = Limits::default().calls_in_flight(1);
        let server = builder(&signals).limits(limits).build().unwrap();
        let mut peer = connect(&server, revision).await;
        let first = peer.begin("jobs/wait", json!({})).await;
        signals.begun.notified().await;
        let second = peer.begin("jobs/add", json!({"a": 1})).await;
        // A list is no call, and is served meanwhile.
        peer.begin("tools/list", json!({})).await;
        let answer = peer.receive("tools/list").await;
        assert_ne!(answer["id"], second, "{answer}");
        peer.cancel(first).await;
        let answer = peer.receive("jobs/add").await;
        assert_eq!(answer["id"], second);
    }
}

#[tokio::test]
async fn a_batch_may_contain_requests_of_extensions() {
    let mut peer = connect(&server(), Revision::V2025_03_26).await;
    let add = |id| json!({"jsonrpc": "2.0", "id": id, "method": "jobs/add", "params": {"a": id}});
    peer.send(&json!([add(1), add(2)])).await;
    let answers = peer.receive_any().await.unwrap();
    let sums = answers.as_array().unwrap().iter();
    assert_eq!(
        sums.map(|one| one["result"]["sum"].clone())
            .collect::<Value>(),
        json!([1, 2])
    );
}

#[tokio::test]
async fn progress_and_notifications_precede_the_response() {
    for revision in [Revision::LATEST_LEGACY, MODERN] {
        let mut peer = connect(&server(), revision).await;
        let params = json!({"_meta": {"progressToken": 5}});
        peer.begin("jobs/report", params).await;
        let (method, params) = peer.next_notification().await;
        assert_eq!(
            (&*method, &params["progress"]),
            ("notifications/progress", &json!(1))
        );
        let sent = peer.receive_any().await.unwrap();
        let expected =
            json!({"jsonrpc": "2.0", "method": "notifications/jobs", "params": {"id": "j1"}});
        assert_eq!(sent, expected);
        peer.receive("jobs/report").await;
    }
}

#[tokio::test]
async fn only_a_legacy_client_is_asked() {
    let mut capabilities = declared();
    capabilities["elicitation"] = json!({"form": {}});
    let mut peer = Peer::connect_as(&server(), MODERN, capabilities.clone()).await;
    let (code, message) = peer.refused("jobs/ask", json!({})).await;
    assert_eq!(code, -32603);
    assert!(
        message.contains(
            "questions only in results of `tools/call`, `prompts/get` and `resources/read`"
        ),
        "{message}"
    );
    let mut peer = Peer::connect_as(&server(), Revision::LATEST_LEGACY, capabilities).await;
    peer.begin("jobs/ask", json!({})).await;
    let question = peer.receive_any().await.unwrap();
    assert_eq!(question["method"], "elicitation/create");
    let accepted = json!({"action": "accept", "content": {}});
    peer.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": accepted}))
        .await;
    peer.receive("jobs/ask").await;
}

#[tokio::test]
async fn a_request_has_the_principal_of_its_connection() {
    let mut connection = server().connect();
    connection.extensions_mut().insert(Principal::new("ada"));
    let mut peer = Peer::over(connection, MODERN);
    peer.capabilities = declared();
    let answer = peer.request("jobs/caller", json!({})).await;
    assert_eq!(answer["result"]["principal"], "ada");
}

/// The method of a request, and `true` if it has succeeded.
type SeenRequest = (String, Option<bool>);

#[derive(Clone, Default, Debug)]
struct Seen(Arc<Mutex<Vec<SeenRequest>>>);

struct Request(Seen, String);

impl Observation for Request {
    fn in_scope(&self, run: &mut dyn FnMut()) {
        run();
    }

    fn end(self: Box<Self>, outcome: &Outcome) {
        let is_ok = matches!(outcome, Outcome::Success);
        self.0.0.lock().unwrap().push((self.1.clone(), Some(is_ok)));
    }
}

impl ServerObserver for Seen {
    fn request(
        &self,
        request: &ObservedRequest<'_>,
        _: &mut Extensions,
    ) -> Option<Box<dyn Observation>> {
        let method = request
            .extension_method
            .or(request.method.map(treenail::schema::Method::as_str));
        Some(Box::new(Request(
            self.clone(),
            method.unwrap_or("?").to_owned(),
        )))
    }
}

#[tokio::test]
async fn requests_are_observed() {
    let seen = Seen::default();
    let server = builder(&Signals::default())
        .observe(seen.clone())
        .build()
        .unwrap();
    let mut peer = connect(&server, MODERN).await;
    peer.request("jobs/add", json!({"a": 1})).await;
    peer.request("jobs/add", json!({})).await;
    peer.request("jobs/unknown", json!({})).await;
    let expected = [("jobs/add", true), ("jobs/add", false), ("?", false)];
    let expected = expected.map(|(method, is_ok)| (method.to_owned(), Some(is_ok)));
    assert_eq!(*seen.0.lock().unwrap(), expected, "{ID}");
}
