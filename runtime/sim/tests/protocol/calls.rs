//! Calls in all eras and over both transports.

use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::time::{sleep, timeout};
use treenail::Limits;
use treenail::prelude::*;
use treenail::schema::{ElicitAction, ElicitResult, Revision};
use treenail::sim::{Balance, Client, Faults, Simulation, Transport, check};

use crate::SEEDS;
use crate::desk::{
    BUSY_BYTES, CALLS, Desk, IDLE_BYTES, builder, call, limits, measure, serde_text,
};

const MODERN: &[Revision] = &[Revision::LATEST];
const LEGACY: &[Revision] = &[
    Revision::V2025_11_25,
    Revision::V2025_03_26,
    Revision::V2024_11_05,
];
const ALL: &[Revision] = &[
    Revision::LATEST,
    Revision::V2025_11_25,
    Revision::V2025_06_18,
];

/// Sessions with a few random calls each, several at once.
async fn work(client: Client, revisions: &'static [Revision]) {
    let mut number = 0;
    for _ in 0..3 {
        client.pause(Duration::from_secs(2)).await;
        let Ok(session) = builder(&client, revisions).build().await else {
            continue;
        };
        for _ in 0..4 {
            let [one, two, three, four] = [number, number + 1, number + 2, number + 3];
            number += 4;
            tokio::join!(
                biased;
                call(&client, &session, one),
                call(&client, &session, two),
                call(&client, &session, three),
                call(&client, &session, four),
            );
            client.pause(Duration::from_millis(500)).await;
        }
        if client.random(2) == 0 {
            let _ = session.close().await;
        }
    }
}

/// Without faults, each replica has its whole capacity, and nothing of the other clients runs.
async fn check_capacity(client: Client, desk: Desk, revision: Revision, replicas: usize) {
    // Calls of the legacy era over HTTP may go on after their clients have left.
    sleep(Duration::from_secs(60)).await;
    let running = desk.ledger.running.load(Ordering::SeqCst);
    assert_eq!(running, 0, "calls run although their clients have left");
    for index in 0..replicas {
        let builder = client.builder().protocol_version(revision);
        let accept = |_| async { Ok(ElicitResult::new(ElicitAction::Accept)) };
        let session = builder.on_elicit(accept).build().await;
        let session = session.expect("a server without faults accepts a session");
        for round in 0..2 {
            let mut calls = tokio::task::JoinSet::new();
            for _ in 0..CALLS {
                let session = session.clone();
                calls.spawn(async move {
                    let arguments = json!({"steps": 3, "pause": 100, "size": 10});
                    session
                        .call_tool("steps", arguments)
                        .timeout(Duration::from_secs(5))
                        .await
                });
            }
            while let Some(result) = calls.join_next().await {
                let result = result.unwrap().expect("a server without faults answers");
                assert!(serde_text(&result).contains("3 steps"), "round {round}");
            }
            let booked =
                session.call_tool("book", json!({"key": format!("check-{index}-{round}")}));
            let booked = serde_text(&booked.timeout(Duration::from_secs(5)).await.unwrap());
            let expected = format!("check-{index}-{round} 1 of 1");
            assert!(booked.contains(&expected), "{booked}");
            for _ in 0..2 {
                let narrow = session.call_tool("narrow", json!({"pause": 10}));
                let narrow = narrow.timeout(Duration::from_secs(5)).await;
                assert_ne!(narrow.unwrap().is_error, Some(true));
            }
        }
        check_cancellation(&session, &desk).await;
    }
}

/// Without faults, a call ends soon after its client has stopped waiting.
async fn check_cancellation(session: &McpClient, desk: &Desk) {
    let arguments = json!({"steps": 2, "pause": 30_000, "size": 10});
    let call = session.call_tool("steps", arguments);
    let outcome = timeout(Duration::from_secs(1), call).await;
    assert!(
        outcome.is_err(),
        "a call of a minute has ended: {outcome:?}"
    );
    sleep(Duration::from_secs(2)).await;
    let running = desk.ledger.running.load(Ordering::SeqCst);
    assert_eq!(running, 0, "a cancelled call runs on");
}

fn simulation(seed: u64, revisions: &'static [Revision], limits: Limits) -> Simulation {
    let desk = Desk::default();
    let checked = desk.clone();
    Simulation::new(seed)
        .server(move |replica| desk.builder(replica).limits(limits.clone()).build())
        .replicas(2)
        .faults(Faults::default())
        // The tool `fail` panics in some calls.
        .allow_panics()
        .clients(3, move |client| work(client, revisions))
        .memory_limits(BUSY_BYTES, IDLE_BYTES, measure)
        .afterwards(move |client| check_capacity(client, checked.clone(), revisions[0], 3))
}

#[test]
fn modern_calls_over_http_survive_faults() {
    check(SEEDS, |seed| {
        simulation(seed, MODERN, limits()).balance(Balance::Random)
    });
}

#[test]
fn legacy_calls_over_http_survive_faults() {
    check(SEEDS, |seed| simulation(seed, LEGACY, limits()));
}

#[test]
fn calls_over_streams_survive_faults() {
    check(SEEDS, |seed| {
        let simulation = if seed % 2 == 0 {
            simulation(seed, ALL, limits())
        } else {
            // Two clients at once exceed these permits, so that messages wait for the calls of other connections.
            simulation(seed, ALL, limits().server_calls_in_flight(CALLS + 1)).replicas(1)
        };
        simulation.transport(Transport::Stream)
    });
}

/// One client occupies the server. The other has nothing in flight but the call that waits for it.
#[test]
fn an_idle_connection_continues_when_the_calls_of_others_end() {
    let desk = Desk::default();
    let simulation = Simulation::new(1)
        .server(move |replica| {
            let limits = limits().server_calls_in_flight(1);
            desk.builder(replica).limits(limits).build()
        })
        .transport(Transport::Stream)
        .clients(2, |client| async move {
            let session = client.connect().await.unwrap();
            if client.index() == 1 {
                sleep(Duration::from_millis(500)).await;
            }
            let arguments = json!({"steps": 1, "pause": 1_000, "size": 10});
            let call = session.call_tool("steps", arguments);
            let result = timeout(Duration::from_secs(5), call).await;
            let result = result.expect("a call starts when there is a free permit");
            assert!(serde_text(&result.unwrap()).contains("1 steps"));
        });
    simulation.run().assert_ok();
}
