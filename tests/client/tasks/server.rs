//! Tasks of a server of Treenail, in both eras.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use tokio::sync::Notify;
use tokio_stream::StreamExt as _;
use treenail::client::{ClientError, ClientLimits, McpClientBuilder};
use treenail::context::Principal;
use treenail::layer::Request;
use treenail::prelude::*;
use treenail::schema::{ElicitAction, ElicitRequestParams, ElicitResult, Revision, TaskStatus};
use treenail::tasks::TaskTicket;

/// Revisions with tasks.
const REVISIONS: [Revision; 2] = [Revision::V2025_11_25, Revision::V2026_07_28];

/// Tools that run as tasks.
#[derive(Clone, Default)]
struct Yard {
    released: Arc<Notify>,
    dropped: Arc<Notify>,
}

/// Guard that notifies when it is dropped.
struct Dropped(Arc<Notify>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

#[mcp_form]
struct Name {
    name: String,
}

#[mcp_tool]
impl Yard {
    /// Waits until it is released.
    #[tool(task(always))]
    async fn report(&self, cx: &Context, year: u32) -> u32 {
        let _dropped = Dropped(Arc::clone(&self.dropped));
        cx.progress(1).message("half").await;
        self.released.notified().await;
        year
    }

    /// Becomes a task in every era.
    #[tool(task(always, required))]
    async fn christen(&self, cx: &Context) -> Result<String, AskError> {
        let first = cx.elicit::<Name>("First?").await?;
        let second = cx.elicit::<Name>("Second?").await?;
        Ok(format!("{} {}", first.name, second.name))
    }

    #[tool(task(always, required))]
    async fn sink() -> Result<String, String> {
        Err("it leaks".to_owned())
    }

    #[tool]
    fn plain(a: i64) -> i64 {
        a
    }
}

async fn client(yard: &Yard, revision: Revision) -> McpClient {
    let server = Server::builder("yard", "1")
        .mount(yard.clone())
        .build()
        .unwrap();
    connect(&server, revision).await
}

async fn connect(server: &Server, revision: Revision) -> McpClient {
    builder(server, revision).build().await.unwrap()
}

fn builder(server: &Server, revision: Revision) -> McpClientBuilder {
    let builder = McpClient::builder().server(server).tasks();
    builder
        .protocol_version(revision)
        .on_elicit(|params| async move {
            let mut result = ElicitResult::new(ElicitAction::Accept);
            if let ElicitRequestParams::Form(form) = params {
                let name = form.message.trim_end_matches('?').to_owned();
                result.content = Some([("name".to_owned(), name.into())].into());
            }
            Ok(result)
        })
}

#[tokio::test(start_paused = true)]
async fn calls_wait_for_their_tasks() {
    for revision in REVISIONS {
        let client = client(&Yard::default(), revision).await;
        let name: String = client.call_tool_as("christen", ()).await.unwrap();
        assert_eq!(name, "First Second", "TASK-C-06: {revision}");
        let error = client.call_tool_as::<String>("sink", ()).await.unwrap_err();
        assert!(
            matches!(error, ClientError::Tool(_)),
            "TASK-S-12, LTASK-B-08: {revision}: {error}"
        );
        let plain: i64 = client.call_tool_as("plain", json!({"a": 7})).await.unwrap();
        assert_eq!(plain, 7, "{revision}");
    }
}

#[tokio::test(start_paused = true)]
async fn handles_and_tickets_work() {
    for revision in REVISIONS {
        let yard = Yard::default();
        let server = Server::builder("yard", "1")
            .mount(yard.clone())
            .build()
            .unwrap();
        let client = connect(&server, revision).await;
        let handle = client
            .call_tool("report", json!({"year": 2026}))
            .task()
            .await
            .unwrap();
        let state = handle.status().await.unwrap().unwrap();
        assert_eq!(state.status, TaskStatus::Working, "{revision}");
        let ticket = serde_json::to_string(&handle.detach().unwrap()).unwrap();
        client.close().await.unwrap();

        let ticket: TaskTicket = serde_json::from_str(&ticket).unwrap();
        let client = connect(&server, revision).await;
        let mut handle = client.resume_task_as::<u32>(&ticket).unwrap();
        let updates = handle.updates();
        yard.released.notify_one();
        assert_eq!(handle.wait().await.unwrap(), 2026, "TASK-C-05: {revision}");
        let updates: Vec<_> = updates.collect().await;
        // In the older revision, the result may arrive before any state.
        if revision.is_modern() {
            assert!(updates.last().unwrap().is_final(), "{updates:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_running_task_leaves_room_for_requests() {
    for revision in REVISIONS {
        let yard = Yard::default();
        let server = Server::builder("yard", "1").mount(yard.clone());
        let builder = builder(&server.build().unwrap(), revision);
        let limits = ClientLimits::default().requests_in_flight(1);
        let client = builder.limits(limits).build().await.unwrap();
        let call = client.call_tool("report", json!({"year": 2026})).task();
        let mut handle = call.await.unwrap();
        let (report, plain) = tokio::join!(handle.wait(), async {
            tokio::time::sleep(Duration::from_secs(5)).await;
            let plain = client.call_tool("plain", json!({"a": 7})).await;
            yard.released.notify_one();
            plain
        });
        assert_eq!(plain.unwrap().as_text(), Some("7"), "{revision}");
        assert_eq!(report.unwrap().as_text(), Some("2026"), "{revision}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_dropped_call_stops_the_work() {
    for revision in REVISIONS {
        let yard = Yard::default();
        let client = client(&yard, revision).await;
        let handle = client
            .call_tool("report", json!({"year": 1}))
            .task()
            .await
            .unwrap();
        drop(handle);
        let call = client.call_tool("report", json!({"year": 2}));
        let call = tokio::time::timeout(Duration::from_secs(3), call.into_future());
        call.await.unwrap_err();
        yard.dropped.notified().await;
        // The dropped handle has cancelled nothing.
        yard.released.notify_one();
        yard.dropped.notified().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_task_is_an_error() {
    for revision in REVISIONS {
        let yard = Yard::default();
        let client = client(&yard, revision).await;
        let mut handle = client
            .call_tool("report", json!({"year": 1}))
            .task()
            .await
            .unwrap();
        handle.cancel().await.unwrap();
        yard.dropped.notified().await;
        let error = handle.wait().await.unwrap_err();
        assert!(
            matches!(error, ClientError::Cancelled(_)),
            "XAMB-04: {revision}: {error}"
        );
        handle.cancel().await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn progress_arrives_as_status_messages() {
    let yard = Yard::default();
    let client = client(&yard, Revision::V2026_07_28).await;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (noted, released) = (Arc::clone(&seen), Arc::clone(&yard.released));
    let call = client
        .call_tool("report", json!({"year": 1}))
        .on_progress(move |progress| {
            noted
                .lock()
                .unwrap()
                .push(progress.message.unwrap_or_default());
            released.notify_one();
        });
    call.await.unwrap();
    let seen = seen.lock().unwrap();
    assert!(
        seen.iter().any(|message| message.contains("half")),
        "{seen:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn older_revisions_run_calls_in_their_request() {
    let yard = Yard::default();
    let client = client(&yard, Revision::V2025_06_18).await;
    yard.released.notify_one();
    let mut handle = client
        .call_tool("report", json!({"year": 7}))
        .task()
        .await
        .unwrap();
    assert_eq!(handle.id(), None, "TASK-S-38");
    assert_eq!(
        handle.wait().await.unwrap().as_text(),
        Some("7"),
        "TASK-S-38"
    );
}

#[mcp_client]
trait YardApi {
    #[tool(name = "report")]
    async fn report(&self, year: u32) -> Result<u32, ToolError>;
}

#[tokio::test(start_paused = true)]
async fn typed_clients_have_typed_handles() {
    for revision in REVISIONS {
        let yard = Yard::default();
        let client = client(&yard, revision).await;
        let api = YardApiClient::new(&client);
        let mut handle = api.report(2026).task().await.unwrap();
        assert!(handle.id().is_some(), "{revision}");
        yard.released.notify_one();
        assert_eq!(handle.wait().await.unwrap(), 2026, "{revision}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_belongs_to_the_principal_of_the_connection() {
    let layer = tower::util::MapRequestLayer::new(|mut call: Request| {
        call.extensions_mut().insert(Principal::new("alice"));
        call
    });
    let yard = Yard::default();
    let server = Server::builder("yard", "1").mount(yard.clone());
    let server = server.layer(layer).build().unwrap();
    for revision in REVISIONS {
        let client = connect(&server, revision).await;
        let called = client.call_tool("christen", ()).await.unwrap();
        assert_eq!(called.as_text(), Some("First Second"), "{revision}");
    }
}
