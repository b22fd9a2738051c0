//! Faults of connections.

use std::time::Duration;

use serde_json::Value;
use tokio::time::sleep;
use treenail::prelude::*;
use treenail::sim::{Client, Faults, Simulation, Transport};

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

fn simulation(seed: u64) -> Simulation {
    Simulation::new(seed).server(|_| treenail::server!().tools(tools![echo, big]).build())
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
