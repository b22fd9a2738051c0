//! Work of tasks that takes longer than other calls may.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;
use treenail::prelude::*;
use treenail::schema::Revision;
use treenail::sim::{Simulation, Transport};
use treenail::tasks::{MemoryStore, Tasks};

/// Takes this time, and leaves a task of tokio behind if `leaks`.
#[mcp_tool(read_only, task(required))]
async fn work(seconds: u64, leaks: bool) -> String {
    if leaks {
        tokio::spawn(sleep(Duration::from_secs(1_000)));
    }
    sleep(Duration::from_secs(seconds)).await;
    "done".to_owned()
}

fn simulation() -> Simulation {
    let store: Arc<MemoryStore> = Arc::default();
    Simulation::new(1).server(move |replica| {
        let store = replica.store(store.clone());
        let tasks = Tasks::new().store(store);
        treenail::server!()
            .tools(tools![work])
            .extension(tasks)
            .build()
    })
}

#[test]
fn a_client_may_wait_for_the_end_of_a_long_task() {
    for revision in [Revision::V2025_11_25, Revision::LATEST] {
        for transport in [Transport::Http, Transport::Stream] {
            let waiting = simulation()
                .transport(transport)
                .clients(1, move |client| async move {
                    let builder = client.builder().protocol_version(revision).tasks();
                    let session = builder.build().await.unwrap();
                    let arguments = json!({"seconds": 150, "leaks": false});
                    let done: String = session.call_tool_as("work", arguments).await.unwrap();
                    assert_eq!(done, "done");
                });
            waiting.run().assert_ok();
        }
    }
}

#[test]
fn a_task_may_run_on_after_its_client_has_left() {
    for leaks in [false, true] {
        let leaving = simulation().clients(1, move |client| async move {
            let session = client.builder().tasks().build().await.unwrap();
            let arguments = json!({"seconds": 300, "leaks": leaks});
            let task = session.call_tool("work", arguments).task().await.unwrap();
            assert!(task.ticket().is_some());
            // The task has begun.
            sleep(Duration::from_secs(1)).await;
        });
        let report = leaving.run();
        let leaked = "replica-0 has 1 tokio tasks more than at its start";
        let expected: &[&str] = if leaks { &[leaked] } else { &[] };
        assert_eq!(report.violations(), expected, "{report}");
    }
}
