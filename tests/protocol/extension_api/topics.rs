//! Topics of extensions in `subscriptions/listen`.

use std::sync::Arc;

use tokio::sync::Semaphore;
use treenail::context::Principal;
use treenail::extension::Extension;
use treenail::limits::SubscriptionLimits;
use treenail::prelude::*;
use treenail::{Limits, RpcError};
use treenail_runtime::internal::extension::publish;

use super::jobs::{ID, declared};
use crate::support::peer::{MODERN, Peer, error};

const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// A server whose callers may listen to the jobs that start with their names. It decides once `gate` is open.
fn server(gate: &Arc<Semaphore>) -> Server {
    let gate = Arc::clone(gate);
    let accept = move |cx: Context, topics: Vec<String>| {
        let gate = Arc::clone(&gate);
        async move {
            drop(gate.acquire().await);
            assert!(!topics.iter().any(|topic| topic == "panic"), "a secret");
            if topics.iter().any(|topic| topic == "fail") {
                return Err(RpcError::internal("the store is not available"));
            }
            let name = cx
                .principal()
                .map_or("", |principal| principal.as_str())
                .to_owned();
            // One that was not asked for is dropped.
            let own = topics.into_iter().filter(|topic| topic.starts_with(&name));
            Ok(own.chain(["uninvited".to_owned()]).collect())
        }
    };
    let extension = Extension::new(ID).listen_member("jobIds", accept);
    let limits = SubscriptionLimits::default().resources(4).bytes(32);
    treenail::server!()
        .limits(Limits::default().subscriptions(limits))
        .extension(extension)
        .build()
        .unwrap()
}

fn open() -> Arc<Semaphore> {
    Arc::new(Semaphore::new(1000))
}

fn connect(server: &Server, name: &str) -> Peer {
    let mut connection = server.connect();
    connection.extensions_mut().insert(Principal::new(name));
    let mut peer = Peer::over(connection, MODERN);
    peer.capabilities = declared();
    peer
}

fn tell(server: &Server, topic: &str, text: &str) {
    let params = json!({"id": topic, "text": text, "_meta": {"com.example/a": 1}}).to_string();
    publish(server, ("jobIds", topic), "notifications/jobs", &params).unwrap();
}

impl Peer {
    /// Starts a subscription without waiting for its acknowledgement.
    async fn listen_to(&mut self, topics: Value) -> i64 {
        let params = json!({"notifications": {"jobIds": topics, "toolsListChanged": false}});
        self.begin("subscriptions/listen", params).await
    }

    async fn acknowledged(&mut self) -> Value {
        let mut message = self.receive_any().await.unwrap();
        assert_eq!(message["method"], ACKNOWLEDGED, "{message}");
        message["params"]["notifications"].take()
    }

    /// Receives the next message of a topic.
    async fn told(&mut self, subscription: i64) -> (String, String) {
        let message = self.receive_any().await.unwrap();
        assert_eq!(message["method"], "notifications/jobs", "{message}");
        let params = &message["params"];
        assert_eq!(
            params["_meta"],
            json!({"com.example/a": 1, SUBSCRIPTION: subscription})
        );
        let member = |name: &str| params[name].as_str().unwrap().to_owned();
        (member("id"), member("text"))
    }
}

#[tokio::test]
async fn accepted_topics_are_acknowledged_and_published() {
    let server = server(&open());
    let mut peer = connect(&server, "ada");
    let id = peer
        .listen_to(json!(["ada-1", "bob-1", "ada-2", "ada-1"]))
        .await;
    assert_eq!(
        peer.acknowledged().await,
        json!({"jobIds": ["ada-1", "ada-2"]})
    );
    for topic in ["bob-1", "ada-1", "uninvited", "ada-3", "ada-2"] {
        tell(&server, topic, "new");
    }
    for topic in ["ada-1", "ada-2"] {
        assert_eq!(peer.told(id).await, (topic.to_owned(), "new".to_owned()));
    }
    peer.cancel(id).await;
    peer.request("server/discover", json!({})).await;
    tell(&server, "ada-1", "newer");
    let answer = peer.request("server/discover", json!({})).await;
    assert!(
        answer.get("result").is_some(),
        "nothing follows a cancellation: {answer}"
    );
}

#[tokio::test]
async fn messages_while_topics_are_accepted_are_not_lost_and_the_newest_wins() {
    let gate = Arc::new(Semaphore::new(0));
    let server = server(&gate);
    let mut peer = connect(&server, "ada");
    let id = peer.listen_to(json!(["ada-1", "bob-1"])).await;
    // Other requests are served meanwhile, and the subscription has begun when this is answered.
    peer.request("server/discover", json!({})).await;
    for text in ["first", "second", "third"] {
        tell(&server, "ada-1", text);
        tell(&server, "bob-1", text);
    }
    gate.add_permits(1);
    assert_eq!(peer.acknowledged().await, json!({"jobIds": ["ada-1"]}));
    assert_eq!(
        peer.told(id).await,
        ("ada-1".to_owned(), "third".to_owned())
    );
    tell(&server, "ada-1", "fourth");
    assert_eq!(peer.told(id).await.1, "fourth");
}

#[tokio::test]
async fn a_subscription_may_be_cancelled_before_its_topics_are_accepted() {
    let gate = Arc::new(Semaphore::new(0));
    let server = server(&gate);
    let mut peer = connect(&server, "ada");
    let id = peer.listen_to(json!(["ada-1"])).await;
    peer.request("server/discover", json!({})).await;
    peer.cancel(id).await;
    peer.request("server/discover", json!({})).await;
    gate.add_permits(1);
    tell(&server, "ada-1", "new");
    let answer = peer.request("server/discover", json!({})).await;
    assert!(answer.get("result").is_some(), "{answer}");
}

#[tokio::test]
async fn a_failure_to_accept_is_the_response() {
    for (topic, expected) in [
        ("fail", "the store is not available"),
        ("panic", "unexpectedly"),
    ] {
        for gate in [open(), Arc::new(Semaphore::new(0))] {
            let server = server(&gate);
            let mut peer = connect(&server, "ada");
            let id = peer.listen_to(json!([topic])).await;
            gate.add_permits(1);
            let answer = peer.receive("subscriptions/listen").await;
            assert_eq!(answer["id"], id);
            let (code, message) = error(&answer);
            assert_eq!(code, -32603);
            assert!(message.contains(expected), "{message}");
            // The id is free again, and the subscription has ended.
            tell(&server, topic, "new");
            peer.listen_to(json!(["ada-1"])).await;
            assert_eq!(peer.acknowledged().await, json!({"jobIds": ["ada-1"]}));
        }
    }
}

#[tokio::test]
async fn topics_need_the_declaration_of_the_client() {
    let params = json!({"notifications": {"jobIds": ["ada-1"]}});
    let mut peer = Peer::connect(&server(&open()), MODERN).await;
    let answer = peer.request("subscriptions/listen", params).await;
    assert_eq!(error(&answer).0, -32021, "TASK-S-27: {answer}");
    let required = &answer["error"]["data"]["requiredCapabilities"];
    assert_eq!(*required, json!({"extensions": {ID: {}}}), "TASK-S-27");
    peer.begin("subscriptions/listen", json!({"notifications": {}}))
        .await;
    assert_eq!(
        peer.acknowledged().await,
        json!({}),
        "a filter without topics"
    );
}

#[tokio::test]
async fn a_server_without_the_extension_ignores_its_topics() {
    let plain = treenail::server!().build().unwrap();
    let mut peer = connect(&plain, "ada");
    peer.listen_to(json!(["ada-1"])).await;
    assert_eq!(peer.acknowledged().await, json!({}));
}

#[tokio::test]
async fn topics_are_bounded() {
    let server = server(&open());
    let mut peer = connect(&server, "ada");
    for (topics, expected) in [
        (
            json!("ada-1"),
            "`params.notifications.jobIds` is not a list of strings",
        ),
        (
            json!([1]),
            "`params.notifications.jobIds` is not a list of strings",
        ),
        (
            json!(["x".repeat(33)]),
            "`params.notifications.jobIds` has more than 32 bytes",
        ),
        (json!(["a", "b", "c", "d", "e"]), "at most 4"),
    ] {
        let params = json!({"notifications": {"jobIds": topics}});
        let (code, message) = peer.refused("subscriptions/listen", params).await;
        assert_eq!(code, -32602, "{message}");
        assert!(message.contains(expected), "{message}");
    }
    peer.listen_to(json!(["ada-1", "ada-2", "ada-3"])).await;
    peer.acknowledged().await;
    let params = json!({"notifications": {"jobIds": ["ada-4", "ada-5"]}});
    let (_, message) = peer.refused("subscriptions/listen", params).await;
    assert!(message.contains("at most 4"), "{message}");
}

#[tokio::test]
async fn a_closed_server_ends_subscriptions_that_wait() {
    let server = server(&Arc::new(Semaphore::new(0)));
    let mut peer = connect(&server, "ada");
    let id = peer.listen_to(json!(["ada-1"])).await;
    peer.request("server/discover", json!({})).await;
    server.close();
    let result = peer.receive("subscriptions/listen").await;
    assert_eq!(result["id"], id);
}

#[tokio::test]
async fn a_late_failure_is_the_response_to_its_own_request() {
    let gate = Arc::new(Semaphore::new(0));
    let server = server(&gate);
    let mut peer = connect(&server, "ada");
    let failing = peer.listen_to(json!(["fail"])).await;
    peer.request("server/discover", json!({})).await;
    gate.add_permits(1);
    let accepted = peer.listen_to(json!(["ada-1"])).await;
    for _ in 0..2 {
        let message = peer.receive_any().await.unwrap();
        if message.get("error").is_some() {
            assert_eq!(message["id"], failing, "{message}");
        } else {
            let tag = &message["params"]["_meta"][SUBSCRIPTION];
            assert_eq!(*tag, accepted, "{message}");
        }
    }
}
