//! Messages of a client while a new server is being started.

use std::time::Duration;

use serde_json::json;
use treenail::McpClient;
use treenail::client::{ClientLimits, Session, SessionRequest};
use treenail::schema::{LoggingLevel, Revision, SubscriptionFilter};

use super::project::{Project, is_running};
use crate::process::test_server;

const RESTARTED: &str = "the server was restarted";

fn initialize() -> SessionRequest {
    let client = json!({"name": "test", "version": "1"});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    SessionRequest::new(1, "initialize", params.to_string())
}

#[tokio::test]
async fn effects_on_the_old_server_are_repeated_for_the_new_one() {
    let project = Project::new("boatyard");
    let client = project.connect(Revision::V2025_11_25).await;
    let session = client.session();
    project.hold_starts();
    project.write("source", "boatyard");
    let start = project.wait_for_start().await;
    session.resources_subscribe("tide://today").await.unwrap();
    let level = LoggingLevel::Error;
    session.logging_set_level(level).await.unwrap();
    let mut notifications = session.notifications();
    start.go();
    project.stderr.wait_for(RESTARTED, 1).await;
    let arguments = json!({"planks": 1});
    client.call_tool("plane", arguments).await.unwrap();
    client.call_tool("turn_tide", json!({})).await.unwrap();
    loop {
        let next = notifications.next().await.unwrap();
        assert_ne!(next.method, "notifications/message", "{}", next.params);
        if next.method == "notifications/resources/updated" {
            assert!(next.params.contains("tide://today"), "{}", next.params);
            break;
        }
    }
    client.close().await.unwrap();
}

#[tokio::test]
async fn a_handshake_that_the_old_server_does_not_answer_goes_to_the_new_one() {
    let project = Project::new("boatyard");
    let run = project.read("run.sh");
    project.write("run.sh", "cat > received\n");
    let session = project.command(&[]).start(&ClientLimits::default());
    let session = session.unwrap();
    let restart = async {
        while !project.read("received").contains("initialize") {
            tokio::task::yield_now().await;
        }
        project.write("run.sh", &run);
        project.write("source", "boatyard");
    };
    let (result, ()) = tokio::join!(session.request(initialize()), restart);
    let result = result.unwrap();
    assert!(result.contains("2025-11-25"), "{result}");
    session.close().await.unwrap();
}

#[tokio::test]
async fn a_subscription_that_waits_for_a_server_is_opened_once() {
    let project = Project::new("boatyard");
    let client = project.connect(Revision::V2026_07_28).await;
    let server = test_server();
    let logged = format!("tee received | {} $(cat built)\n", server.display());
    project.write("run.sh", &logged);
    project.kill_server();
    project.stderr.wait_for("has exited", 1).await;
    let mut filter = SubscriptionFilter::new();
    filter.resource_subscriptions = Some(vec!["tide://today".to_owned()]);
    let opened = client.session().subscriptions_listen(&filter).await;
    let mut subscription = opened.unwrap();
    client.call_tool("turn_tide", json!({})).await.unwrap();
    let updated = subscription.next().await.unwrap().unwrap();
    assert_eq!(updated.method, "notifications/resources/updated");
    let received = project.read("received");
    // The client has a subscription to lists, too.
    assert_eq!(received.matches("resourceSubscriptions").count(), 1);
    drop(subscription);
    client.close().await.unwrap();
}

#[tokio::test]
async fn only_one_server_runs_although_a_build_ends_while_another_starts() {
    let project = Project::new("boatyard");
    let command = project.command(&["--stop-first"]);
    let client = McpClient::builder().command(command);
    let client = client.protocol_version(Revision::V2025_11_25);
    let client = client.build().await.unwrap();
    project.hold_starts();
    project.write("source", "boatyard");
    let start = project.wait_for_start().await;
    let pending = project.server_id();
    let check = "if kill -0 $(cat pid) 2>/dev/null; then echo 'two servers' >&2; fi\n";
    project.write("run.sh", &format!("{check}{}", Project::run_script("")));
    project.write("source", "boatyard again");
    project.stderr.wait_for(RESTARTED, 1).await;
    assert!(!project.stderr.contain("two servers"));
    assert!(!is_running(pending));
    assert_ne!(project.server_id(), pending);
    client.call_tool("turn_tide", json!({})).await.unwrap();
    drop(start);
    let closed = tokio::time::timeout(Duration::from_secs(60), client.close());
    closed.await.unwrap().unwrap();
}
