//! Tasks of a proxy, for calls of servers with and without tasks.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use treenail::prelude::*;
use treenail::proxy::{Mounted, Proxy};
use treenail::schema::{ElicitAction, ElicitResult, ElicitValue, Revision};
use treenail::tasks::{MemoryStore, Tasks, ToolTask};

use crate::script::legacy_server;
use crate::station::{ERAS, MODERN, client_of, gateway, remote, station};

/// A gateway whose tools are tasks from their start.
pub(crate) async fn proxied(
    server: &Server,
    revision: Revision,
    store: &Arc<MemoryStore>,
) -> (Server, Mounted) {
    let gateway = Server::builder("gateway", "1.0.0")
        .dynamic()
        .extension(Tasks::new().store(Arc::clone(store)))
        .build()
        .unwrap();
    let remote = remote("st", server, revision).task(ToolTask::new().always());
    let mounted = Proxy::new(&gateway).mount(remote).unwrap();
    mounted.connected().await;
    (gateway, mounted)
}

#[tokio::test]
async fn a_call_becomes_a_task_in_every_era() {
    for (caller, remote) in ERAS {
        let (station, counters) = station();
        let (gateway, _mounted) = proxied(&station, remote, &Arc::default()).await;
        let client = client_of(&gateway, caller).tasks().build().await.unwrap();
        let mut task = client.call_tool("st.work", ()).task().await.unwrap();
        assert!(task.id().is_some(), "{caller} {remote}");
        counters.started.notified().await;
        counters.finish.add_permits(1);
        let result = task.wait().await.unwrap();
        assert_eq!(result.as_text(), Some("done"), "{caller} {remote}");
        assert_eq!(counters.runs.load(Ordering::SeqCst), 1, "{caller} {remote}");
    }
}

#[tokio::test]
async fn questions_of_a_server_are_those_of_the_task() {
    for (caller, remote) in ERAS {
        let (station, counters) = station();
        let (gateway, _mounted) = proxied(&station, remote, &Arc::default()).await;
        let asked: Arc<Mutex<usize>> = Arc::default();
        let count = Arc::clone(&asked);
        let client = client_of(&gateway, caller).tasks().on_elicit(move |_| {
            *count.lock().unwrap() += 1;
            async {
                let mut result = ElicitResult::new(ElicitAction::Accept);
                result.content = Some([("nights".to_owned(), ElicitValue::from(3_i64))].into());
                Ok(result)
            }
        });
        let client = client.build().await.unwrap();
        let result = client.call_tool("st.book", ()).await.unwrap();
        let text = result.as_text();
        assert_eq!(text, Some("booked 3 nights"), "{caller} {remote}");
        assert_eq!(*asked.lock().unwrap(), 2, "{caller} {remote}");
        let runs = counters.runs.load(Ordering::SeqCst);
        let expected = if remote == MODERN { 3 } else { 1 };
        assert_eq!(runs, expected, "{caller} {remote}");
    }
}

#[tokio::test]
async fn cancelling_the_task_cancels_the_call_of_the_server() {
    for (caller, remote) in ERAS {
        let (station, counters) = station();
        let (gateway, _mounted) = proxied(&station, remote, &Arc::default()).await;
        let client = client_of(&gateway, caller).tasks().build().await.unwrap();
        let task = client.call_tool("st.work", ()).task().await.unwrap();
        counters.started.notified().await;
        task.cancel().await.unwrap();
        counters.dropped.notified().await;
    }
}

#[tokio::test]
async fn a_client_without_tasks_waits_for_the_result() {
    for (caller, remote) in ERAS {
        let (station, counters) = station();
        let (gateway, _mounted) = proxied(&station, remote, &Arc::default()).await;
        let client = client_of(&gateway, caller).build().await.unwrap();
        counters.finish.add_permits(1);
        let result = client.call_tool("st.work", ()).await.unwrap();
        assert_eq!(result.as_text(), Some("done"), "{caller} {remote}");
    }
}

#[tokio::test]
async fn a_proxy_without_the_extension_refuses_the_server() {
    let (station, _) = station();
    let (_gateway, proxy) = gateway();
    let remote = remote("st", &station, MODERN).task(ToolTask::new());
    let error = proxy.mount(remote).unwrap_err().to_string();
    assert!(
        error.contains("`st`") && error.contains("io.modelcontextprotocol/tasks"),
        "{error}"
    );
}

#[tokio::test]
async fn a_tool_that_its_server_runs_only_as_a_task_is_omitted() {
    let tool = |name, support| {
        json!({
            "name": name, "inputSchema": {"type": "object"}, "execution": {"taskSupport": support},
        })
    };
    let tools = [
        tool("plain", "forbidden"),
        tool("either", "optional"),
        tool("task", "required"),
    ];
    let server = legacy_server(&tools.into_iter().collect(), |_, _| true);
    let (gateway, proxy) = gateway();
    proxy.mount(server).unwrap().connected().await;
    let client = client_of(&gateway, MODERN).build().await.unwrap();
    let tools = client.tools().await.unwrap();
    let names: Vec<_> = tools.iter().map(|tool| &*tool.name).collect();
    assert_eq!(names, ["script.plain", "script.either"]);
}
