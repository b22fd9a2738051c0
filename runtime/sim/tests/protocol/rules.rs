//! Servers and workloads that break a rule are found.

use std::sync::Mutex;
use std::time::Duration;

use tokio::time::{sleep, timeout};
use treenail::prelude::*;
use treenail::schema::Revision;
use treenail::sim::{Client, Simulation, check};

use crate::desk::{IDLE_BYTES, measure};

/// Starts work that outlives its call.
#[mcp_tool]
fn leak() -> bool {
    tokio::spawn(sleep(Duration::from_secs(1_000)));
    true
}

/// Never returns.
#[mcp_tool]
async fn hang() -> bool {
    std::future::pending().await
}

/// Server that holds memory until its end.
#[derive(Default)]
struct Archive(Mutex<Vec<Vec<u8>>>);

#[mcp_tool]
impl Archive {
    /// Retains as many bytes.
    #[tool]
    fn retain(&self, bytes: usize) {
        self.0.lock().unwrap().push(vec![0; bytes]);
    }
}

fn simulation() -> Simulation {
    Simulation::new(1).server(|_| treenail::server!().tools(tools![leak, hang]).build())
}

fn violation(simulation: &Simulation) -> String {
    let report = simulation.run();
    assert_eq!(report.violations().len(), 1, "{report}");
    report.violations()[0].clone()
}

#[test]
fn a_task_that_remains_on_a_replica_is_found() {
    let leaking = || {
        simulation().clients(1, |client| async move {
            let session = client.connect().await.unwrap();
            session.call_tool("leak", json!({})).await.unwrap();
        })
    };
    assert!(violation(&leaking()).contains("1 tokio tasks more than at its start"));
    leaking().background_tasks().run().assert_ok();
}

#[test]
fn a_task_that_remains_beside_an_open_session_is_found() {
    for revision in [Revision::V2025_03_26, Revision::V2025_11_25] {
        for calls in 0..2 {
            let legacy = simulation().clients(3, move |client| async move {
                let builder = client.builder().protocol_version(revision);
                let session = builder.build().await.unwrap();
                for _ in 0..calls {
                    session.call_tool("leak", json!({})).await.unwrap();
                }
            });
            // The idle timeout of the sessions is half an hour.
            let violations = legacy.run().violations().to_vec();
            let leaked = "replica-0 has 3 tokio tasks more than at its start".to_owned();
            assert_eq!(violations, vec![leaked; calls], "{revision:?}");
        }
    }
}

#[test]
fn a_call_that_outlives_its_client_is_named() {
    let leaving = simulation().clients(1, |client| async move {
        let builder = client.builder().protocol_version(Revision::V2025_11_25);
        let session = builder.build().await.unwrap();
        let call = session.call_tool("hang", json!({}));
        timeout(Duration::from_secs(1), call).await.unwrap_err();
        let other = client.builder().protocol_version(Revision::V2025_11_25);
        let other = other.build().await.unwrap();
        tokio::spawn(async move { other.call_tool("hang", json!({})).await });
        sleep(Duration::from_secs(1)).await;
    });
    let violation = violation(&leaving);
    let expected = "replica-0 has 1 tokio tasks more than at its start; the last calls without a response: `hang` on connection ";
    assert!(violation.starts_with(expected), "{violation}");
}

#[test]
fn memory_that_remains_on_a_replica_is_found() {
    let retaining = |bytes: usize| {
        Simulation::new(1)
            .server(|_| treenail::server!().mount(Archive::default()).build())
            .clients(1, move |client| async move {
                let session = client.connect().await.unwrap();
                let retained = session.call_tool("retain", json!({"bytes": bytes})).await;
                assert_ne!(retained.unwrap().is_error, Some(true));
            })
            .memory_limits(IDLE_BYTES, IDLE_BYTES, measure)
    };
    retaining(1).run().assert_ok();
    assert!(violation(&retaining(IDLE_BYTES)).contains("bytes, more than 56000"));
}

#[test]
#[should_panic(expected = "100 bytes were not released after the run")]
fn memory_that_is_never_released_is_found() {
    check(1, |seed| {
        Simulation::new(seed)
            .server(|_| {
                std::hint::black_box(Box::leak(Box::new([0_u8; 100])));
                treenail::server!().tools(tools![leak]).build()
            })
            .clients(1, |_| async {})
            .memory_limits(IDLE_BYTES, IDLE_BYTES, measure)
    });
}

#[test]
fn a_request_without_a_response_is_found() {
    let hanging = simulation().clients(1, |client| async move {
        let session = client.connect().await.unwrap();
        let _ = session.call_tool("hang", json!({})).await;
    });
    let report = hanging.run();
    assert_eq!(report.violations().len(), 2, "{report}");
    assert!(
        report.violations()[0].starts_with("client-0: #"),
        "{report}"
    );
    assert!(
        report.violations()[0].contains(" tools/call had no response for "),
        "{report}"
    );
    assert!(
        report.violations()[1].contains("`tools/call` without a response for"),
        "{report}"
    );
}

#[test]
fn a_partition_explains_a_late_response() {
    let separated = simulation()
        .patience(Duration::from_secs(5))
        .clients(1, |client| async move {
            let session = client.connect().await.unwrap();
            client.partition(0, Duration::from_secs(20));
            session.call_tool("leak", json!({})).await.unwrap();
            assert!(client.elapsed() > Duration::from_secs(20));
        });
    separated.background_tasks().run().assert_ok();
}

#[test]
fn a_failed_assertion_of_a_client_is_found() {
    let failing = simulation().clients(2, |client| async move {
        assert_eq!(client.index(), 0, "an assertion");
    });
    assert!(violation(&failing).contains("client-1 panicked"));
}

#[test]
fn a_replica_that_does_not_exist_is_named() {
    let acts: [fn(&Client); 3] = [
        |client| client.kill(1, Duration::ZERO),
        |client| client.pause_replica(1, Duration::ZERO),
        |client| client.partition(1, Duration::ZERO),
    ];
    for act in acts {
        let acting = simulation().clients(1, move |client| async move { act(&client) });
        let violation = violation(&acting);
        assert!(
            violation.contains("there is no replica 1; the simulation has 1 at "),
            "{violation}"
        );
        assert!(violation.contains("rules.rs:"), "{violation}");
    }
}

#[test]
fn work_without_an_end_is_found() {
    let endless = simulation().clients(1, |_| std::future::pending());
    assert_eq!(violation(&endless), "the work of client-0 does not end");
}
