//! Subscriptions, and the event bus between replicas.

use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::time::timeout;
use treenail::limits::HttpLimits;
use treenail::prelude::*;
use treenail::schema::{Revision, SubscriptionFilter};
use treenail::sim::{Balance, Client, Faults, Simulation, check};

use crate::SEEDS;
use crate::desk::{BUSY_BYTES, Desk, IDLE_BYTES, limits, measure};

/// Connects in the modern era: after a late response to its probe, a client may fall back to a session.
async fn connect(client: &Client) -> Result<McpClient, ClientError> {
    let builder = client.builder().protocol_version(Revision::LATEST);
    builder.build().await
}

/// Clients that change the board.
const WRITERS: usize = 2;
const REPLICAS: usize = 3;

fn filter() -> SubscriptionFilter {
    let mut filter = SubscriptionFilter::default();
    filter.resource_subscriptions = Some(vec!["desk://board".to_owned()]);
    filter
}

async fn next(subscription: &mut treenail::client::Subscription) -> bool {
    let mut subscription = std::pin::Pin::new(subscription);
    let next = std::future::poll_fn(|context| subscription.as_mut().poll_next(context));
    matches!(next.await, Some(Ok(_)))
}

/// Changes the board for some seconds, or follows it.
async fn work(client: Client, desk: Desk) {
    if client.index() < WRITERS {
        for _ in 0..10 {
            client.pause(Duration::from_secs(2)).await;
            if let Ok(session) = connect(&client).await {
                let _ = session.call_tool("touch", json!({})).await;
            }
        }
        desk.ledger.count("finished".to_owned());
        return;
    }
    let mut seen = -1;
    let is_current = |seen| {
        let is_last = desk.ledger.get("finished") == WRITERS as u64;
        is_last && seen == desk.ledger.version.load(Ordering::SeqCst)
    };
    while !is_current(seen) {
        client.pause(Duration::from_secs(1)).await;
        let _ = follow(&client, &mut seen, is_current).await;
    }
    client.log(format!("has seen version {seen}"));
}

/// Reads the board after each change, until the subscription ends or `is_current`.
async fn follow(
    client: &Client,
    seen: &mut i64,
    is_current: impl Fn(i64) -> bool,
) -> Result<(), ClientError> {
    let session = connect(client).await?;
    let mut subscription = session.session().subscriptions_listen(&filter()).await?;
    loop {
        let board = session.session().resources_read("desk://board").await?;
        let text = json!(board).to_string();
        let version = text
            .split("\"text\":\"")
            .nth(1)
            .and_then(|rest| rest.split('"').next());
        *seen = version
            .and_then(|text| text.parse().ok())
            .expect("the board is a number");
        if is_current(*seen) {
            return Ok(());
        }
        // A dead connection is noticed late; that is no matter of events.
        for second in 0.. {
            if is_current(*seen) || second == 90 {
                return Ok(());
            }
            match timeout(Duration::from_secs(1), next(&mut subscription)).await {
                Ok(true) => break,
                Ok(false) => return Ok(()),
                Err(_) => {}
            }
        }
    }
}

/// Without faults, a change on any replica reaches the subscribers of all.
async fn check_delivery(client: Client, desk: Desk) {
    // Longer than the backoff of a bus.
    tokio::time::sleep(Duration::from_secs(60)).await;
    for number in 0..6 * REPLICAS {
        let session = connect(&client).await;
        let session = session.expect("a server without faults accepts a session");
        let subscription = session.session().subscriptions_listen(&filter()).await;
        if let Err(error) = subscription {
            panic!("subscription {number} in a row, each ended before the next: {error}");
        }
    }
    let mut sessions = Vec::new();
    for _ in 0..4 {
        sessions.push(
            connect(&client)
                .await
                .expect("a server without faults accepts a session"),
        );
    }
    let mut subscriptions = Vec::new();
    for session in &sessions {
        let subscription = session.session().subscriptions_listen(&filter()).await;
        subscriptions.push(subscription.expect("a server without faults accepts a subscription"));
    }
    for session in &sessions {
        session
            .call_tool("touch", json!({}))
            .await
            .expect("a server without faults answers");
        let version = desk.ledger.version.load(Ordering::SeqCst);
        for (index, subscription) in subscriptions.iter_mut().enumerate() {
            let notified = timeout(Duration::from_secs(5), next(subscription)).await;
            assert!(
                notified == Ok(true),
                "subscription {index} misses version {version}"
            );
        }
        // A refresh may have been announced besides.
        tokio::time::sleep(Duration::from_secs(2)).await;
    }
}

fn simulation(seed: u64) -> Simulation {
    let desk = Desk::default();
    let (worked, checked) = (desk.clone(), desk.clone());
    Simulation::new(seed)
        .server(move |replica| {
            // As few as the clients need at once: a stream that remains is noticed soon.
            let http = HttpLimits::default().listen_streams(5);
            desk.builder(replica).limits(limits().http(http)).build()
        })
        .replicas(REPLICAS)
        .balance(Balance::Random)
        .memory_limits(BUSY_BYTES, IDLE_BYTES, measure)
        .clients(WRITERS + 3, move |client| work(client, worked.clone()))
        .afterwards(move |client| check_delivery(client, checked.clone()))
}

#[test]
fn subscribers_learn_of_changes_after_crashes() {
    let faults = Faults::default().bus_failures(0.2);
    check(SEEDS, |seed| simulation(seed).faults(faults.clone()));
}

/// The last change reaches every subscriber within a minute, although the bus fails. A replica that crashes may lose it.
#[test]
fn no_change_is_lost_by_a_failing_bus() {
    let faults = Faults::none().bus_failures(0.3).pauses(2);
    check(SEEDS, |seed| {
        let simulation = simulation(seed).time_limit(Duration::from_secs(85));
        simulation.faults(faults.clone())
    });
}
