//! Processes that panic, do not start, or make no progress are found.

use std::time::{Duration, SystemTime};

use serde_json::json;
use tokio::sync::mpsc;
use tokio::task::{JoinHandle, spawn_blocking, yield_now};
use tokio::time::{Instant, sleep};
use treenail::prelude::*;
use treenail::sim::{Simulation, check};

/// Panics.
#[mcp_tool]
fn fail() -> bool {
    panic!("a panic of the tool")
}

/// Returns its argument.
#[mcp_tool]
fn echo(text: String) -> String {
    text
}

fn simulation() -> Simulation {
    Simulation::new(1).server(|_| treenail::server!().tools(tools![fail, echo]).build())
}

/// Checks that a run has one violation, with this text.
#[track_caller]
fn check_violation(simulation: &Simulation, text: &str) {
    let report = simulation.run();
    assert_eq!(report.violations().len(), 1, "{report}");
    assert!(report.violations()[0].contains(text), "{report}");
}

#[test]
fn a_panic_of_a_tool_is_found() {
    let failing = simulation().clients(1, |client| async move {
        let session = client.connect().await.unwrap();
        for _ in 0..2 {
            let _ = session.call_tool("fail", json!({})).await;
        }
    });
    check_violation(&failing, "replica-0 panicked: a panic of the tool at ");
    failing.allow_panics().run().assert_ok();
}

#[test]
fn a_panic_of_a_spawned_task_is_found() {
    let of_client = simulation().clients(1, |_| async {
        tokio::spawn(async { panic!("a panic of the task") });
        sleep(Duration::from_secs(1)).await;
    });
    check_violation(&of_client, "client-0 panicked: a panic of the task at ");
    let of_server = Simulation::new(1)
        .server(|_| {
            tokio::spawn(async { panic!("a panic of the task") });
            treenail::server!().tools(tools![echo]).build()
        })
        .clients(1, |_| async {});
    check_violation(&of_server, "replica-0 panicked: a panic of the task at ");
}

#[test]
fn a_panic_has_the_time_of_its_process() {
    let failing = simulation().clients(1, |client| async move {
        let session = client.connect().await.unwrap();
        sleep(Duration::from_millis(1_007)).await;
        session
            .call_tool("echo", json!({"text": "a"}))
            .await
            .unwrap();
        panic!("an assertion");
    });
    let report = failing.run();
    let transcript = report.transcript().to_string();
    let time_of = |text: &str| {
        let line = transcript.lines().rfind(|line| line.contains(text));
        let time = line.and_then(|line| line.split_whitespace().next());
        time.and_then(|time| time.parse::<f64>().ok())
            .unwrap_or_else(|| panic!("{transcript}"))
    };
    assert!(
        time_of("VIOLATION") >= time_of("loses its session"),
        "{transcript}"
    );
}

#[test]
fn a_panic_of_a_client_is_never_allowed() {
    let failing = simulation()
        .allow_panics()
        .clients(1, |_| async { panic!("an assertion") });
    check_violation(&failing, "client-0 panicked: an assertion at ");
    let failing = failing.clients(1, |_| -> std::future::Ready<()> { panic!("an assertion") });
    check_violation(&failing, "client-0 panicked: an assertion at ");
}

#[test]
fn a_panic_that_a_client_resumes_is_found_once() {
    let resuming = simulation().clients(1, |_| async {
        let task: JoinHandle<()> = tokio::spawn(async { panic!("a panic of the task") });
        let panic = task.await.unwrap_err().into_panic();
        std::panic::resume_unwind(panic);
    });
    check_violation(&resuming, "client-0 panicked: a panic of the task at ");
}

#[test]
fn a_server_that_does_not_start_is_found() {
    let broken = Simulation::new(1)
        .server(|_| {
            treenail::server!()
                .tools(tools![echo])
                .tools(tools![echo])
                .build()
        })
        .clients(1, |_| async {});
    check_violation(&broken, "the server does not start: ");
}

#[test]
#[should_panic(
    expected = "the server does not start: its function panicked: a bad configuration at "
)]
fn a_server_whose_function_panics_is_found_with_its_seed() {
    check(1, |seed| {
        Simulation::new(seed)
            .server(|_| panic!("a bad configuration"))
            .clients(1, |_| async {})
    });
}

#[test]
fn a_task_that_is_always_ready_is_found() {
    let busy = simulation()
        .real_time_limit(Duration::from_millis(500))
        .clients(2, |client| async move {
            let end = Instant::now() + Duration::from_secs(1);
            while client.index() == 1 && Instant::now() < end {
                yield_now().await;
            }
        });
    check_violation(&busy, "client-1 made no progress for 500ms of real time");
}

#[test]
fn blocking_work_that_waits_for_tasks_is_found() {
    let waiting = Simulation::new(1)
        .real_time_limit(Duration::from_millis(500))
        .server(|_| {
            let (sender, mut receiver) = mpsc::channel::<u32>(1);
            spawn_blocking(move || while receiver.blocking_recv().is_some() {});
            tokio::spawn(async move {
                sleep(Duration::from_secs(1)).await;
                let _ = sender.send(1).await;
            });
            treenail::server!().tools(tools![echo]).build()
        })
        .clients(1, |client| async move {
            let session = client.connect().await.unwrap();
            session
                .call_tool("echo", json!({"text": "a"}))
                .await
                .unwrap();
        });
    check_violation(
        &waiting,
        "replica-0 made no progress for 500ms of real time",
    );
}

#[test]
fn a_replica_has_the_clock_and_the_random_numbers_of_its_process() {
    let drawn = |seed| {
        let report = Simulation::new(seed)
            .server(|replica| {
                let (replica, other) = (replica.clone(), replica.clone());
                tokio::spawn(async move {
                    let start = replica.system_time();
                    sleep(Duration::from_secs(1)).await;
                    let passed = replica.system_time().duration_since(start);
                    assert_eq!(passed.ok(), Some(Duration::from_secs(1)));
                    let now = start.duration_since(SystemTime::UNIX_EPOCH).unwrap();
                    replica.log(format!("{now:?} {}", replica.random(1_000)));
                });
                assert!(other.random(3) < 3);
                treenail::server!().tools(tools![echo]).build()
            })
            .clients(1, |_| async {})
            .run();
        report.assert_ok();
        report.transcript().to_string()
    };
    assert_eq!(drawn(1), drawn(1));
    assert!(drawn(1).contains("1785196800"), "{}", drawn(1));
}
