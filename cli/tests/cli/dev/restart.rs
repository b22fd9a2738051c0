//! Changes that reach a connected client, and failures that leave the old server running.

use std::fs;
use std::time::Duration;

use rustix::process::{Signal, kill_process};
use serde_json::{Value, json};
use tokio::time::timeout;
use tokio_stream::StreamExt;
use treenail::ClientError;
use treenail::McpClient;
use treenail::client::ServerNotification;
use treenail::schema::{LoggingLevel, Revision, SubscriptionFilter};

use super::project::{Project, connect, description, is_running};

const OLD: &str = "Daily forecast.";
const NEW: &str = "Daily forecast. Call `forget` first.";

/// Waits for a notification.
async fn wait_for(
    notifications: &mut (impl StreamExt<Item = ServerNotification> + Unpin),
    method: &str,
) -> ServerNotification {
    loop {
        let next = notifications.next().await.expect("the client is connected");
        if next.method == method {
            return next;
        }
    }
}

#[tokio::test]
async fn a_changed_description_reaches_a_connected_legacy_client() {
    let project = Project::new("before");
    let client = project.connect(Revision::V2025_11_25).await;
    assert_eq!(description(&client, "forecast").await, OLD);
    let mut notifications = client.session().notifications();
    project.write("source", "after");
    wait_for(&mut notifications, "notifications/tools/list_changed").await;
    assert_eq!(description(&client, "forecast").await, NEW);
    client.close().await.unwrap();
}

#[tokio::test]
async fn a_changed_description_reaches_a_connected_modern_client() {
    let project = Project::new("before");
    let client = project.connect(Revision::V2026_07_28).await;
    assert_eq!(description(&client, "forecast").await, OLD);
    let mut filter = SubscriptionFilter::new();
    filter.tools_list_changed = Some(true);
    let opened = client.session().subscriptions_listen(&filter).await;
    let mut subscription = opened.unwrap();
    assert_eq!(subscription.acknowledged().tools_list_changed, Some(true));
    // The second change arrives over the same subscription.
    for (mode, expected) in [("after", NEW), ("before", OLD)] {
        project.write("source", mode);
        let changed = subscription.next().await.unwrap().unwrap();
        assert_eq!(changed.method, "notifications/tools/list_changed");
        assert_eq!(description(&client, "forecast").await, expected);
    }
    drop(subscription);
    client.close().await.unwrap();
}

#[tokio::test]
async fn a_compile_error_is_shown_while_the_old_server_stays() {
    let project = Project::new("before");
    let client = project.connect(Revision::V2025_11_25).await;
    let mut notifications = client.session().notifications();
    let old = project.server_id();
    project.write("source", "broken");
    let log = wait_for(&mut notifications, "notifications/message").await;
    let log: Value = serde_json::from_str(&log.params).unwrap();
    assert_eq!(
        (&log["level"], &log["logger"]),
        (&json!("error"), &json!("treenail dev"))
    );
    let text = log["data"].as_str().unwrap();
    assert!(text.contains("error: expected a mode"), "{text}");
    project.stderr.wait_for("error: expected a mode", 1).await;
    project.stderr.wait_for("the old server stays", 1).await;
    assert!(is_running(old));
    let arguments = json!({"city": "Oslo"});
    let result = client.call_tool("forecast", arguments).await.unwrap();
    assert_eq!(result.as_text(), Some("Oslo, 1 days"));
    project.write("source", "after");
    wait_for(&mut notifications, "notifications/tools/list_changed").await;
    assert_eq!(description(&client, "forecast").await, NEW);
    client.close().await.unwrap();
}

#[tokio::test]
async fn a_modern_client_gets_the_compile_error_with_a_request_that_asks_for_logs() {
    let project = Project::new("before");
    let client = project.connect(Revision::V2026_07_28).await;
    let mut notifications = client.session().notifications();
    project.write("source", "broken");
    project.stderr.wait_for("the old server stays", 1).await;
    let request = client
        .session()
        .tools_call("forecast", json!({"city": "Oslo"}));
    request.log_level(LoggingLevel::Info).await.unwrap();
    let log = wait_for(&mut notifications, "notifications/message").await;
    assert!(
        log.params.contains("error: expected a mode"),
        "{}",
        log.params
    );
    client.close().await.unwrap();
}

#[tokio::test]
async fn a_server_that_does_not_start_leaves_the_old_one() {
    let project = Project::new("before");
    let client = project.connect(Revision::V2025_11_25).await;
    assert_eq!(description(&client, "forecast").await, OLD);
    project.write("run.sh", "echo 'panic: no database' >&2; exit 3\n");
    project.write("source", "after");
    project
        .stderr
        .wait_for("the server does not start: ", 1)
        .await;
    assert!(project.stderr.contain("panic: no database"));
    let result = client.call_tool("forecast", json!({"city": "Oslo"})).await;
    assert!(result.is_ok(), "{result:?}");
    client.close().await.unwrap();
}

#[tokio::test]
async fn a_server_that_never_starts_answers_with_its_last_lines() {
    let project = Project::new("before");
    project.write("run.sh", "echo 'panic: no database' >&2; exit 3\n");
    let client = McpClient::builder().command(project.command(&[]));
    let client = client.protocol_version(Revision::V2025_11_25);
    let Err(ClientError::Refused(error)) = client.build().await else {
        panic!("there is no server");
    };
    assert!(error.message.contains("panic: no database"), "{error}");
}

#[tokio::test]
async fn a_call_in_flight_gets_an_error_when_its_server_is_replaced() {
    let project = Project::new("everything");
    let client = project.connect(Revision::V2025_11_25).await;
    let mut notifications = client.session().notifications();
    let waiting = tokio::spawn({
        let client = client.clone();
        async move { client.call_tool("wait", json!({})).await }
    });
    wait_for(&mut notifications, "notifications/message").await;
    project.write("source", "after");
    let error = waiting.await.unwrap().unwrap_err();
    assert!(
        error.to_string().contains("has restarted the server"),
        "{error}"
    );
    client.close().await.unwrap();
}

#[tokio::test]
async fn a_server_that_was_killed_is_started_again_by_the_next_request() {
    let project = Project::new("everything");
    let client = project.connect(Revision::V2025_11_25).await;
    let mut notifications = client.session().notifications();
    let waiting = tokio::spawn({
        let client = client.clone();
        async move { client.call_tool("wait", json!({})).await }
    });
    wait_for(&mut notifications, "notifications/message").await;
    project.kill_server();
    let error = waiting.await.unwrap().unwrap_err();
    assert!(
        error.to_string().contains("the server did not answer"),
        "{error}"
    );
    let result = client.call_tool("echo", json!({"text": "again"})).await;
    assert_eq!(result.unwrap().as_text(), Some("again"));
    client.close().await.unwrap();
}

#[tokio::test]
async fn requests_of_the_server_reach_the_client_in_both_eras() {
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let project = Project::new("everything");
        let client = McpClient::builder().command(project.command(&["--stop-first"]));
        let client = client.protocol_version(revision).on_elicit(|_| async {
            let mut result =
                treenail::schema::ElicitResult::new(treenail::schema::ElicitAction::Accept);
            let content = json!({"name": "Ada", "room": "Single", "confirm": true});
            result.content = serde_json::from_value(content).unwrap();
            Ok(result)
        });
        let client = client.build().await.unwrap();
        let result = client.call_tool("book", json!({})).await.unwrap();
        let text = result.as_text().unwrap();
        assert!(text.starts_with("Ada, 2 nights"), "{revision}: {text}");
        // The old server is stopped before the new one is started.
        let old = project.server_id();
        project.write("source", "after");
        project.stderr.wait_for("the server was restarted", 1).await;
        assert!(!is_running(old));
        client.close().await.unwrap();
    }
}

#[tokio::test]
async fn the_first_compile_error_is_the_answer_to_the_handshake() {
    let project = Project::new("broken");
    let client = McpClient::builder().command(project.command(&[]));
    let client = client.protocol_version(Revision::V2025_11_25);
    let Err(ClientError::Refused(error)) = client.build().await else {
        panic!("there is no server");
    };
    assert!(error.message.contains("error: expected a mode"), "{error}");
}

#[tokio::test]
async fn a_build_ends_although_a_process_in_the_background_has_its_output() {
    let project = Project::new("before");
    project.write(
        "build.sh",
        "cp source built; sleep 1000 & echo $! > daemon\n",
    );
    let connecting = project.connect(Revision::V2025_11_25);
    let connected = timeout(Duration::from_secs(60), connecting).await;
    let client = connected.expect("the build has ended");
    assert_eq!(description(&client, "forecast").await, OLD);
    // It may be a daemon for further builds.
    let daemon = project.process("daemon");
    assert!(is_running(daemon));
    kill_process(daemon, Signal::KILL).unwrap();
    client.close().await.unwrap();
}

#[tokio::test]
async fn a_server_without_a_build_is_restarted() {
    let project = Project::new("before");
    project.write("built", "before");
    let words = ["dev", "--watch", "built", "--", "sh", "run.sh"];
    let client = connect(project.dev(&words), Revision::V2025_11_25).await;
    let mut notifications = client.session().notifications();
    project.write("built", "after");
    wait_for(&mut notifications, "notifications/tools/list_changed").await;
    assert_eq!(description(&client, "forecast").await, NEW);
    client.close().await.unwrap();
}

#[tokio::test]
async fn a_replaced_directory_is_watched_with_those_below_it() {
    let project = Project::new("before");
    for directory in ["tree/src/sub", "tree/new/sub"] {
        fs::create_dir_all(project.path(directory)).unwrap();
        project.write(&format!("{directory}/source"), "before");
    }
    project.write("build.sh", "cp tree/src/sub/source built\n");
    let words = "dev --watch tree --build".split(' ');
    let words: Vec<_> = words.chain(["sh build.sh", "--", "sh", "run.sh"]).collect();
    let client = connect(project.dev(&words), Revision::V2025_11_25).await;
    let mut notifications = client.session().notifications();
    fs::rename(project.path("tree/src"), project.path("old")).unwrap();
    fs::rename(project.path("tree/new"), project.path("tree/src")).unwrap();
    for (mode, expected) in [("after", NEW), ("before", OLD)] {
        project.write("tree/src/sub/source", mode);
        wait_for(&mut notifications, "notifications/tools/list_changed").await;
        assert_eq!(description(&client, "forecast").await, expected);
    }
    client.close().await.unwrap();
}
