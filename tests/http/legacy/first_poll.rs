//! Calls that are stopped while their function computes without an `await`.

use std::future::pending;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::time::timeout;
use treenail::http::{HttpService, http_service};
use treenail::prelude::*;
use treenail::schema::Revision;

use super::Client;
use crate::fixture::OnDrop;

/// Long enough for a machine under load. The wait is short if the call is stopped.
const PATIENCE: Duration = Duration::from_secs(20);

/// Tool that computes until it is released.
pub(crate) struct Computing {
    pub(crate) begun: Notify,
    ended: Arc<Notify>,
    released: Mutex<mpsc::Receiver<()>>,
}

#[mcp_tool]
impl Computing {
    /// Computes in its first poll, or in the second one, and reports progress. Then it returns, or waits without end.
    #[tool]
    async fn compute(&self, cx: &Context, late: bool, returns: bool) -> &'static str {
        let _end = OnDrop(Arc::clone(&self.ended));
        if late {
            tokio::task::yield_now().await;
        }
        self.begun.notify_one();
        let _ = self.released.lock().unwrap().recv_timeout(PATIENCE);
        cx.progress(1).await;
        if !returns {
            pending::<()>().await;
        }
        "computed"
    }
}

impl Computing {
    /// Returns the tool, the service that has it, and the sender that releases it.
    pub(crate) fn start() -> (Arc<Self>, HttpService, mpsc::Sender<()>) {
        let (release, released) = mpsc::channel();
        let computing = Arc::new(Self {
            begun: Notify::new(),
            ended: Arc::default(),
            released: Mutex::new(released),
        });
        let server = Server::builder("slow", "1").mount(Arc::clone(&computing));
        (computing, http_service(server.build().unwrap()), release)
    }

    /// Waits for the end of the call.
    pub(crate) async fn ended(&self) {
        let ended = timeout(PATIENCE, self.ended.notified()).await;
        ended.expect("SRV-CANC-03: the call is stopped");
    }
}

/// Returns the cancellation of request 1.
pub(crate) fn cancellation() -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn a_call_is_cancelled_while_its_function_computes() {
    for (late, returns) in [(false, false), (false, true), (true, false)] {
        let (computing, service, release) = Computing::start();
        let client = Client::start(&service, Revision::LATEST_LEGACY).await;
        let arguments = json!({"late": late, "returns": returns});
        let call = client.spawn_send(client.tool(1, "compute", &arguments));
        computing.begun.notified().await;
        let cancelled = client.send(client.post(&cancellation())).await;
        cancelled.expect_accepted("SRV-CANC-03");
        release.send(()).unwrap();
        computing.ended().await;
        let response = call.await.unwrap();
        response.expect_accepted("SRV-CANC-03");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn the_end_of_a_session_stops_functions_that_compute() {
    let (computing, service, release) = Computing::start();
    let client = Client::start(&service, Revision::V2025_03_26).await;
    let params = json!({"name": "compute", "arguments": {"late": false, "returns": false}});
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let batch = json!([call]);
    for message in [call, batch] {
        let client = Client::start(&service, Revision::V2025_03_26).await;
        let call = client.spawn_send(client.post(&message));
        computing.begun.notified().await;
        assert_eq!(client.send(client.delete()).await.status, 204);
        release.send(()).unwrap();
        computing.ended().await;
        call.await
            .unwrap()
            .expect_accepted("the call has no response");
    }
    assert_eq!(client.send(client.ping()).await.status, 200, "others stay");
}
