//! Bounds of the relay.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use super::*;
use crate::args::Verbosity;

/// Relay whose client does not read, its messages, and the result of the first turn after these events.
fn first_turn(
    events: impl Iterator<Item = Event>,
) -> (Relay, mpsc::UnboundedReceiver<String>, Option<Failure>) {
    let (output, messages) = ClientOutput::new();
    let verbosity = Verbosity {
        quiet: true,
        verbose: 0,
    };
    let options = RelayOptions {
        terminal: Terminal::new(verbosity),
        trace: None,
        stop_first: false,
    };
    let mut relay = Relay::new(options, output);
    for event in events {
        relay.launcher.events.send(event).unwrap();
    }
    let (_lines, lines) = mpsc::channel(1);
    let (_builds, builds) = mpsc::channel(1);
    let turn = {
        let running = pin!(relay.run(lines, builds));
        running.poll(&mut Context::from_waker(Waker::noop()))
    };
    let failure = match turn {
        Poll::Ready(result) => Some(result.unwrap_err()),
        Poll::Pending => None,
    };
    (relay, messages, failure)
}

fn notification(length: usize) -> Event {
    Event::Notified {
        generation: 1,
        method: "notifications/message".to_owned(),
        params: format!("{{\"data\":\"{}\"}}", "x".repeat(length)),
    }
}

#[tokio::test]
async fn all_messages_of_a_flood_are_passed_on_in_one_turn() {
    let (relay, messages, failure) = first_turn((0..10_000).map(|_| notification(1)));
    assert!(failure.is_none());
    assert!(relay.events.is_empty());
    assert_eq!(messages.len(), 10_000);
}

#[tokio::test]
async fn a_flood_that_the_client_does_not_read_ends_the_relay() {
    let (relay, messages, failure) = first_turn((0..80).map(|_| notification(1 << 20)));
    let failure = failure.expect("the messages exceed the bound");
    assert_eq!(failure.message(), "the client does not read its messages");
    assert_eq!(messages.len(), 64);
    assert_eq!(relay.events.len(), 80 - 64);
}
