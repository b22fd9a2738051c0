//! Handles to tasks, and tickets.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use tokio_stream::StreamExt as _;
use treenail::client::{ClientError, ClientLimits, TaskWaitLimits, TypedCall};
use treenail::prelude::*;
use treenail::schema::{CallToolResult, TaskStatus};
use treenail::tasks::{TaskHandle, TaskTicket};

use super::{ID, States, completed, modern, peer, result, state};
use crate::script::Reply;

fn working() -> Value {
    state("working", &json!({"statusMessage": "half"}))
}

#[tokio::test(start_paused = true)]
async fn a_handle_is_a_task_of_its_caller() {
    let mut script = States::new([working(), working(), completed("done")]);
    let (builder, received) = modern(move |message| result(message, "complete", &script.next()));
    let client = builder.build().await.unwrap();
    let mut handle = client.call_tool("report", ()).task().await.unwrap();
    assert_eq!(handle.id(), Some(ID));
    assert_eq!(handle.tool(), "report");
    // Nothing is observed yet.
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert!(!received.methods().contains(&"tasks/get".to_owned()));
    let status = handle.status().await.unwrap().unwrap();
    assert_eq!(status.status, TaskStatus::Working);
    assert_eq!(status.message.as_deref(), Some("half"));

    let updates = handle.updates();
    // A wait that is dropped loses nothing.
    tokio::time::timeout(Duration::from_millis(500), handle.wait())
        .await
        .unwrap_err();
    assert_eq!(handle.wait().await.unwrap().as_text(), Some("done"));
    assert_eq!(handle.wait().await.unwrap().as_text(), Some("done"));
    let statuses: Vec<_> = updates.map(|update| update.status).collect().await;
    let working = TaskStatus::Working;
    assert_eq!(statuses, [working, working, TaskStatus::Completed]);
}

#[tokio::test(start_paused = true)]
async fn a_direct_answer_is_in_the_handle() {
    let (builder, received) = peer(|message| {
        let content = json!([{"type": "text", "text": "7"}]);
        Reply::result(
            message,
            &json!({"resultType": "complete", "content": content}),
        )
    });
    let client = builder.build().await.unwrap();
    let mut handle = TypedCall::<i64>::new(&client, "count", ())
        .task()
        .await
        .unwrap();
    assert_eq!(handle.id(), None);
    assert_eq!(handle.ticket(), None);
    assert_eq!(handle.status().await.unwrap(), None);
    handle.cancel().await.unwrap();
    assert_eq!(handle.wait().await.unwrap(), 7);
    let again = handle.wait().await.unwrap_err();
    assert!(matches!(again, ClientError::Invalid(_)), "{again}");
    assert_eq!(received.methods(), ["server/discover", "tools/call"]);
}

#[tokio::test(start_paused = true)]
async fn a_tool_with_an_unusable_schema_has_run_as_a_task() {
    let (builder, _) = modern(|message| match message["method"].as_str() {
        Some("tools/list") => {
            let schema = json!({"$ref": "https://example.com/a"});
            let tool = json!({"name": "report", "inputSchema": {"type": "object"},
                "outputSchema": schema});
            result(message, "complete", &json!({ "tools": [tool] }))
        }
        _ => result(message, "complete", &completed("done")),
    });
    let client = builder.build().await.unwrap();
    let mut handle = client.call_tool("report", ()).task().await.unwrap();
    client.tools().await.unwrap();
    let error = handle.wait().await.unwrap_err().to_string();
    assert!(error.contains("tool `report` has run, but"), "{error}");
}

/// Counts the states of a new stream.
async fn states(handle: &mut TaskHandle<CallToolResult>) -> usize {
    handle.updates().collect::<Vec<_>>().await.len()
}

#[tokio::test(start_paused = true)]
async fn a_second_stream_of_states_ends_too() {
    let (builder, _) = modern(|message| result(message, "complete", &completed("done")));
    let client = builder.build().await.unwrap();
    let mut handle = client.call_tool("report", ()).task().await.unwrap();
    assert_eq!(states(&mut handle).await, 2);
    // It has the latest state.
    assert_eq!(states(&mut handle).await, 1);
    handle.wait().await.unwrap();
    assert_eq!(states(&mut handle).await, 1);
}

#[tokio::test(start_paused = true)]
async fn a_handle_that_was_idle_survives_a_failed_poll() {
    let mut polls = 0;
    let (builder, _) = modern(move |message| {
        polls += 1;
        match polls {
            1 => Reply::error(message, &json!({"code": -32603, "message": "store"})),
            _ => result(message, "complete", &completed("done")),
        }
    });
    let client = builder.build().await.unwrap();
    let mut handle = client.call_tool("report", ()).task().await.unwrap();
    tokio::time::sleep(Duration::from_secs(700)).await;
    let waited = handle.wait().await.unwrap();
    assert_eq!(waited.as_text(), Some("done"), "TASK-C-09");
}

#[tokio::test(start_paused = true)]
async fn an_idle_handle_leaves_the_subscriptions_to_others() {
    let (builder, received) = modern(|message| result(message, "complete", &completed("done")));
    let limits = ClientLimits::default().tasks(TaskWaitLimits::default().subscriptions(1));
    let client = builder.limits(limits).build().await.unwrap();
    let idle = client.call_tool("report", ()).task().await.unwrap();
    client.call_tool("report", ()).await.unwrap();
    let subscribed = received.methods().into_iter();
    let subscribed = subscribed.filter(|method| method == "subscriptions/listen");
    assert_eq!(subscribed.count(), 1);
    drop(idle);
}

#[tokio::test(start_paused = true)]
async fn a_typed_call_has_a_typed_handle() {
    let number = json!({"content": [{"type": "text", "text": "7"}], "structuredContent": 7});
    let end = state("completed", &json!({ "result": number }));
    let (builder, _) = modern(move |message| result(message, "complete", &end));
    let client = builder.build().await.unwrap();
    let mut handle = TypedCall::<i64>::new(&client, "count", ())
        .task()
        .await
        .unwrap();
    assert_eq!(handle.wait().await.unwrap(), 7);
}

#[tokio::test(start_paused = true)]
async fn a_ticket_resumes_the_task_in_another_process() {
    let (builder, received) = modern(|message| result(message, "complete", &working()));
    let client = builder.build().await.unwrap();
    let handle = client
        .call_tool("report", json!({"secret": 1}))
        .task()
        .await
        .unwrap();
    let ticket = serde_json::to_string(&handle.detach()).unwrap();
    assert!(!ticket.contains("secret"), "{ticket}");
    drop(client);
    tokio::time::sleep(Duration::from_secs(60)).await;
    let methods = received.methods();
    assert!(
        !methods.iter().any(|it| it == "tasks/cancel"),
        "{methods:?}"
    );

    let ticket: TaskTicket = serde_json::from_str(&ticket).unwrap();
    assert_eq!((ticket.id(), ticket.tool()), (ID, "report"));
    let (builder, received) = modern(|message| result(message, "complete", &completed("done")));
    let client = builder.build().await.unwrap();
    let mut handle = client.resume_task(&ticket).unwrap();
    assert_eq!(
        handle.wait().await.unwrap().as_text(),
        Some("done"),
        "TASK-C-05"
    );
    assert!(!received.methods().contains(&"tools/call".to_owned()));
    let mut handle = client.resume_task_as::<String>(&ticket).unwrap();
    assert_eq!(handle.wait().await.unwrap(), "done");
    assert!(!format!("{ticket:?} {handle:?}").contains(ID));
}

#[tokio::test(start_paused = true)]
async fn an_old_task_without_a_ttl_can_be_awaited() {
    let mut script = States::new([working(), working(), completed("done")]);
    let (builder, _) = modern(move |message| result(message, "complete", &script.next()));
    let client = builder.build().await.unwrap();
    let age = Duration::from_secs(8 * 86_400);
    let created = SystemTime::now().checked_sub(age).unwrap();
    let created = created.duration_since(UNIX_EPOCH).unwrap();
    let created = u64::try_from(created.as_millis()).unwrap();
    let ticket =
        json!({"task": ID, "tool": "report", "revision": "2026-07-28", "created": created});
    let ticket: TaskTicket = serde_json::from_value(ticket).unwrap();
    let mut handle = client.resume_task(&ticket).unwrap();
    assert_eq!(handle.wait().await.unwrap().as_text(), Some("done"));
}

#[tokio::test(start_paused = true)]
async fn a_ticket_of_another_server_is_refused() {
    let ticket =
        json!({"task": ID, "tool": "t", "server": "other", "revision": "2026-07-28", "created": 0});
    let ticket: TaskTicket = serde_json::from_value(ticket).unwrap();
    let (builder, received) = modern(|_| Reply::nothing());
    let client = builder.build().await.unwrap();
    let error = client.resume_task(&ticket).unwrap_err();
    assert!(error.to_string().contains("`other`"), "{error}");
    assert_eq!(received.methods(), ["server/discover"]);
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_task_is_an_error() {
    let mut is_cancelled = false;
    let (builder, _) = peer(move |message| match message["method"].as_str() {
        Some("tools/call") => result(message, "task", &working()),
        Some("tasks/cancel") => {
            is_cancelled = true;
            Reply::result(message, &json!({"resultType": "complete"}))
        }
        Some("tasks/get") if is_cancelled => {
            result(message, "complete", &state("cancelled", &json!({})))
        }
        Some("tasks/get") => result(message, "complete", &working()),
        _ => Reply::error(message, &json!({"code": -32601, "message": "no"})),
    });
    let client = builder.build().await.unwrap();
    let mut handle = client.call_tool("report", ()).task().await.unwrap();
    tokio::time::timeout(Duration::from_secs(5), handle.wait())
        .await
        .unwrap_err();
    handle.cancel().await.unwrap();
    let error = handle.wait().await.unwrap_err();
    assert!(matches!(error, ClientError::Cancelled(_)), "{error}");
}

#[tokio::test(start_paused = true)]
async fn requests_about_a_task_can_be_spawned() {
    let mut script = States::new([working(), state("cancelled", &json!({}))]);
    let (builder, received) = modern(move |message| match message["method"].as_str() {
        Some("tasks/cancel") => result(message, "complete", &json!({})),
        _ => result(message, "complete", &script.next()),
    });
    let client = builder.build().await.unwrap();
    let handle = client.call_tool("report", ()).task().await.unwrap();
    let status = tokio::spawn(handle.status()).await.unwrap().unwrap();
    assert_eq!(status.unwrap().status, TaskStatus::Working);
    let cancelled = tokio::spawn(async move {
        handle.cancel().await?;
        handle.status().await
    });
    let status = cancelled.await.unwrap().unwrap();
    assert_eq!(status.unwrap().status, TaskStatus::Cancelled);
    let methods = received.methods();
    let last = ["tasks/get", "tasks/cancel", "tasks/get"];
    assert_eq!(methods[methods.len() - 3..], last);
}
