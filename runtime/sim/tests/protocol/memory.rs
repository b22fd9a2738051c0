//! Memory of replicas whose clients read slowly.

use std::time::Duration;

use treenail::Limits;
use treenail::limits::HttpLimits;
use treenail::prelude::*;
use treenail::schema::Revision;
use treenail::sim::{Client, Faults, Simulation, Transport, check};

use crate::SEEDS;
use crate::desk::{measure, serde_text};

/// Clients with three calls at a time each.
const CLIENTS: usize = 4;
/// Messages of a call. The calls at one time send 4.8 MB on average.
const MESSAGES: u64 = 400;
const MESSAGE_BYTES: u64 = 4_000;
/// Memory that a replica may hold, in bytes: for each session its stored events, and for each call the queue, the buffer of its
/// connection and a part of the stream that is ready to be written.
const BUSY_BYTES: usize = 1_200_000;
/// Memory that it may hold without clients, in bytes. A replica that has had no clients yet holds about 19,500. A debug build compiles
/// the output schema of the tool at the first result.
const IDLE_BYTES: usize = 25_000;

/// Sends messages without a pause.
#[mcp_tool(read_only)]
async fn flood(cx: &Context, messages: u32, bytes: usize) -> u32 {
    for number in 1..=messages {
        cx.progress(number).message("x".repeat(bytes)).await;
    }
    messages
}

fn limits() -> Limits {
    Limits::default()
        .queued_messages(2)
        .queued_output_bytes(4 << 10)
        .backlog_bytes(4 << 10)
        .http(
            HttpLimits::default()
                .header_bytes(8 << 10)
                .sessions(CLIENTS)
                .session_events(16)
                .session_bytes(16 << 10)
                .session_idle_timeout(Duration::from_secs(20)),
        )
}

async fn work(client: Client, revision: Revision) {
    for _ in 0..4 {
        client.pause(Duration::from_secs(1)).await;
        let builder = client.builder().protocol_version(revision);
        let Ok(session) = builder.build().await else {
            continue;
        };
        tokio::join!(biased; call(&client, &session), call(&client, &session), call(&client, &session));
    }
}

async fn call(client: &Client, session: &McpClient) {
    let (messages, bytes) = (client.random(MESSAGES), client.random(MESSAGE_BYTES));
    let arguments = json!({"messages": messages, "bytes": bytes});
    let call = session.call_tool("flood", arguments);
    let call = call.on_progress(|_| {}).timeout(Duration::from_secs(20));
    // A call of a slow reader may time out.
    if let Ok(result) = call.await {
        assert!(serde_text(&result).contains(&messages.to_string()));
    }
}

/// Ends the replica at random times, which measures its memory.
async fn end_replica(client: Client) {
    for _ in 0..6 {
        client.pause(Duration::from_secs(4)).await;
        client.kill(0, Duration::from_millis(50));
    }
}

#[test]
fn slow_readers_do_not_exhaust_memory() {
    check(SEEDS, |seed| {
        let (revision, transport) = match seed % 3 {
            0 => (Revision::LATEST, Transport::Http),
            1 => (Revision::V2025_11_25, Transport::Http),
            _ => (Revision::LATEST, Transport::Stream),
        };
        Simulation::new(seed)
            .server(|_| {
                treenail::server!()
                    .tools(tools![flood])
                    .limits(limits())
                    .build()
            })
            .transport(transport)
            .faults(Faults::none().slow_readers(0.7))
            .clients(CLIENTS + 1, move |client| async move {
                if client.index() == CLIENTS {
                    end_replica(client).await;
                } else {
                    work(client, revision).await;
                }
            })
            .memory_limits(BUSY_BYTES, IDLE_BYTES, measure)
    });
}
