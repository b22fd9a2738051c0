//! Subscriptions, and the event bus between replicas.

use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::time::timeout;
use treenail::prelude::*;
use treenail::schema::SubscriptionFilter;
use treenail::sim::{Balance, Client, Faults, Simulation, check};

use crate::SEEDS;
use crate::desk::Desk;

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

/// Subscribes, or changes the board.
async fn work(client: Client) {
    for _ in 0..6 {
        client.pause(Duration::from_secs(1)).await;
        let Ok(session) = client.connect().await else {
            continue;
        };
        if client.random(2) == 0 {
            for _ in 0..client.random(5) {
                let _ = session.call_tool("touch", json!({})).await;
                client.pause(Duration::from_millis(100)).await;
            }
        } else if let Ok(mut subscription) = session.session().subscriptions_listen(&filter()).await
        {
            let most = Duration::from_millis(client.random(5_000));
            let _ = timeout(most, async { while next(&mut subscription).await {} }).await;
        }
    }
}

/// Without faults, a change on any replica reaches the subscribers of all.
async fn check_delivery(client: Client, desk: Desk) {
    // Longer than the backoff of a bus.
    tokio::time::sleep(Duration::from_secs(60)).await;
    let mut sessions = Vec::new();
    for _ in 0..4 {
        sessions.push(
            client
                .connect()
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

#[test]
fn every_subscriber_learns_of_changes_after_faults() {
    check(SEEDS, |seed| {
        let desk = Desk::default();
        let checked = desk.clone();
        Simulation::new(seed)
            .server(move |replica| desk.builder(replica).build())
            .replicas(3)
            .balance(Balance::Random)
            .faults(Faults::default().bus_failures(0.2))
            .clients(4, work)
            .afterwards(move |client| check_delivery(client, checked.clone()))
    });
}
