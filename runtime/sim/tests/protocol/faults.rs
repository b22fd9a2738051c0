//! Faults of connections, those that clients request, and the end of all faults.

use std::time::Duration;

use serde_json::Value;
use tokio::time::{sleep, timeout};
use treenail::prelude::*;
use treenail::sim::{Balance, Client, Faults, Simulation, Transport};

/// Returns its argument.
#[mcp_tool(read_only)]
fn echo(text: String) -> String {
    text
}

/// Returns more than a slow reader reads within the patience.
#[mcp_tool(read_only)]
fn big() -> String {
    "x".repeat(60_000)
}

/// Takes longer than the patience.
#[mcp_tool(read_only)]
async fn nap() {
    sleep(Duration::from_secs(50)).await;
}

fn simulation(seed: u64) -> Simulation {
    Simulation::new(seed).server(|_| treenail::server!().tools(tools![echo, big, nap]).build())
}

/// Runs calls on connections that all have a fault.
fn check_connections(faults: &Faults, tool: &'static str, arguments: &Value) {
    for transport in [Transport::Http, Transport::Stream] {
        for seed in 0..10 {
            let arguments = arguments.clone();
            let simulation = simulation(seed)
                .transport(transport)
                .faults(faults.clone())
                .patience(Duration::from_millis(500))
                .clients(1, move |client| call_often(client, tool, arguments.clone()));
            simulation.run().assert_ok();
        }
    }
}

/// Calls a tool for longer than the time in which connections are dropped.
async fn call_often(client: Client, tool: &'static str, arguments: Value) {
    let Ok(session) = client.connect().await else {
        return;
    };
    while client.elapsed() < Duration::from_secs(4) {
        sleep(Duration::from_millis(100)).await;
        let _ = session.call_tool(tool, arguments.clone()).await;
    }
}

#[test]
fn a_slow_reader_explains_a_late_response() {
    check_connections(&Faults::none().slow_readers(1.0), "big", &json!({}));
}

#[test]
fn a_dropped_connection_explains_a_late_response() {
    let arguments = json!({"text": "a"});
    check_connections(&Faults::none().drops(1.0), "echo", &arguments);
}

#[test]
fn faults_that_are_the_last_act_of_a_client_end_before_the_last_checks() {
    let simulation = simulation(1)
        .replicas(2)
        .clients(1, |client| async move {
            let session = client.connect().await.unwrap();
            let called = session.call_tool("echo", json!({"text": "a"})).await;
            called.unwrap();
            client.kill(0, Duration::from_secs(10));
            client.pause_replica(1, Duration::from_secs(10));
        })
        .afterwards(|client| async move {
            let faults_end = client.elapsed();
            for _ in 0..2 {
                let session = client.connect().await.expect("all replicas run");
                let called = session.call_tool("echo", json!({"text": "a"})).await;
                called.unwrap();
            }
            assert!(client.elapsed() < faults_end + Duration::from_secs(1));
        });
    let simulation = simulation.balance(Balance::Random);
    simulation.run().assert_ok();
}

#[test]
fn times_without_an_end_do_not_overflow() {
    let simulation = simulation(1)
        .replicas(3)
        .time_limit(Duration::MAX)
        .clients(3, |client| async move {
            client.pause(Duration::from_secs(1)).await;
            match client.index() {
                0 => client.kill(0, Duration::MAX),
                1 => client.pause_replica(1, Duration::MAX),
                _ => client.partition(2, Duration::MAX),
            }
        })
        .afterwards(|client| async move {
            client.connect().await.expect("all replicas run");
        });
    simulation.run().assert_ok();
}

#[test]
fn the_last_checks_have_rules_of_time_after_a_long_fault() {
    let faults: [fn(&Client); 3] = [
        |client| client.kill(1, Duration::MAX),
        |client| client.pause_replica(1, Duration::from_secs(3_600)),
        |client| client.partition(1, Duration::from_secs(3_600)),
    ];
    for fault in faults {
        let simulation = simulation(1)
            .replicas(2)
            .clients(1, move |client| async move { fault(&client) })
            .afterwards(|client| async move {
                let session = client.connect().await.unwrap();
                session.call_tool("nap", ()).await.unwrap();
            });
        let report = simulation.run();
        let late = report.violations().iter();
        let late = late.filter(|text| text.contains("response for "));
        // That of the client and that of the connection.
        assert_eq!(late.count(), 2, "{report}");
    }
}

#[test]
fn a_partition_ends_on_open_connections_with_the_faults() {
    for transport in [Transport::Http, Transport::Stream] {
        for time in [Duration::from_secs(600), Duration::MAX] {
            let separated =
                simulation(1)
                    .transport(transport)
                    .clients(1, move |client| async move {
                        let session = client.connect().await.unwrap();
                        client.partition(0, time);
                        let call = session.call_tool("echo", json!({"text": "a"}));
                        let called = timeout(Duration::from_secs(5), call).await;
                        assert!(called.is_err(), "nothing passes");
                    });
            separated.run().assert_ok();
        }
    }
}

#[test]
fn a_kill_of_a_replica_that_is_down_lets_it_start_later() {
    let killed = simulation(1).clients(1, |client| async move {
        for down in [5, 60, 1] {
            client.kill(0, Duration::from_secs(down));
            sleep(Duration::from_secs(1)).await;
        }
        sleep(Duration::from_secs(57)).await;
        client.connect().await.expect_err("it is down");
        sleep(Duration::from_secs(3)).await;
        client.connect().await.expect("it has started");
    });
    let killed = killed.afterwards(|client| async move {
        client.kill(0, Duration::from_secs(1));
        sleep(Duration::from_secs(2)).await;
        client.connect().await.expect("it has started");
    });
    killed.run().assert_ok();
}

#[test]
fn faults_that_have_happened_are_counted() {
    let counted = |faults: Faults, work: Duration| {
        let report = simulation(1)
            .faults(faults.all_at_once())
            .clients(1, move |client| async move {
                client.kill(0, Duration::from_secs(1));
                sleep(work).await;
                client.partition(0, Duration::from_secs(1));
            })
            .run();
        report.assert_ok();
        report.faults()
    };
    assert_eq!(counted(Faults::none(), Duration::from_secs(20)), 2);
    let restarts = Faults::none().restarts(1);
    let restarted = (0..9).map(|seed| {
        let report = simulation(seed).faults(restarts.clone());
        let report = report.clients(1, |_| sleep(Duration::from_secs(20))).run();
        let restarted = report.transcript().to_string().matches(" closes").count();
        assert_eq!(report.faults(), restarted as u64, "{report}");
        restarted
    });
    assert!(restarted.sum::<usize>() > 0);
    let late = Faults::default().within(Duration::from_secs(3_600));
    assert!(counted(late, Duration::ZERO) < 4, "the others are not due");
}
