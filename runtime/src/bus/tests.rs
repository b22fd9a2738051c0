//! What an event is on its way, and what waits for the bus.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use crate::bus::message::Sender;
use crate::bus::queue::EventQueue;
use crate::limits::{EventLimits, Limits, SubscriptionLimits};
use crate::server::subscriptions::{Event, Kind};

fn limits() -> Limits {
    Limits::default()
        .events(EventLimits::default().queued(3))
        .subscriptions(SubscriptionLimits::default().bytes(32))
}

fn sender(server: &str, replica: &str) -> Sender {
    Sender::new(server, replica.to_owned(), &limits())
}

fn updated(uri: &str) -> Event {
    Event::ResourceUpdated(uri.into())
}

/// The event that is next, if there is one now.
fn next(queue: &EventQueue) -> Option<Event> {
    match pin!(queue.next()).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(event) => Some(event),
        Poll::Pending => None,
    }
}

fn is_ready(future: impl Future<Output = ()>) -> bool {
    pin!(future)
        .poll(&mut Context::from_waker(Waker::noop()))
        .is_ready()
}

#[test]
fn an_event_arrives_at_the_other_replicas_of_its_server_only() {
    let (here, there) = (sender("de\"sk", "1"), sender("de\"sk", "2"));
    let lists = Kind::ALL.map(Event::from);
    // As long as it can be, and as badly to escape.
    let hard = "\u{1}".repeat(limits().subscriptions.bytes);
    let others = [updated("notes://7"), updated(&hard), Event::Resync];
    for event in lists.iter().chain(&others) {
        let message = here.write(event);
        assert_eq!(there.read(&message), Ok(Some(event.clone())));
        assert_eq!(here.read(&message), Ok(None), "an echo");
        assert_eq!(sender("other", "2").read(&message), Ok(None));
    }
}

#[test]
fn what_is_no_message_is_refused() {
    let there = sender("desk", "2");
    let message = |version: &str, event: &str| {
        format!(r#"{{"version":{version},"server":"desk","replica":"1",{event}}}"#)
    };
    let long = message("1", &format!(r#""event":"{}""#, "x".repeat(1_000)));
    let cases = [
        (String::new(), "not a message of an event"),
        ("null".to_owned(), "not a message of an event"),
        ("\u{0}\u{0}".to_owned(), "not a message of an event"),
        ("[".repeat(400), "not a message of an event"),
        (r#"{"version":1}"#.to_owned(), "not a message of an event"),
        (message("1", r#""event":7"#), "not a message of an event"),
        (
            message("-1", r#""event":"everything""#),
            "not a message of an event",
        ),
        (
            message("2", r#""event":"everything""#),
            "of another version",
        ),
        (message("1", r#""event":"else""#), "of an unknown event"),
        (
            message("1", r#""event":"resources/updated""#),
            "of an unknown event",
        ),
        (long, "too long"),
    ];
    for (message, reason) in cases {
        assert_eq!(there.read(message.as_bytes()), Err(reason), "{message}");
    }
    let good = sender("desk", "1").write(&updated("notes://7"));
    for index in 0..good.len() {
        assert!(there.read(&good[..index]).is_err(), "{index}");
        let mut broken = good.clone();
        broken[index] = 0xff;
        assert!(there.read(&broken).is_err(), "{index}");
    }
    fastrand::seed(7);
    for length in 0..1_000 {
        let noise: Vec<u8> = (0..length).map(|_| fastrand::u8(..)).collect();
        assert!(there.read(&noise).is_err(), "{noise:?}");
    }
    // A later version of the same form may say more.
    let more = message(
        "1",
        r#""event":"resources/updated","uri":"notes://7","more":[{}]"#,
    );
    assert_eq!(there.read(more.as_bytes()), Ok(Some(updated("notes://7"))));
}

#[test]
fn each_event_waits_once() {
    let queue = EventQueue::new(&limits());
    assert_eq!(next(&queue), None);
    for _ in 0..5 {
        queue.push(&updated("a://1"));
        queue.push(&Kind::Tools.into());
        queue.push(&updated("a://2"));
        queue.push(&updated(&"x".repeat(33)));
    }
    assert_eq!(next(&queue), Some(Kind::Tools.into()));
    assert_eq!(next(&queue), Some(updated("a://1")));
    // What has been taken may change again before that is told.
    queue.push(&updated("a://1"));
    assert_eq!(next(&queue), Some(updated("a://2")));
    assert_eq!(next(&queue), Some(updated("a://1")));
    assert_eq!(next(&queue), None);
}

#[test]
fn too_many_events_become_one() {
    let queue = EventQueue::new(&limits());
    for index in 0..100 {
        queue.push(&updated(&format!("a://{index}")));
        queue.push(&Kind::Prompts.into());
    }
    assert_eq!(next(&queue), Some(Event::Resync));
    assert_eq!(next(&queue), None);
    queue.push(&updated("a://1"));
    assert_eq!(next(&queue), Some(updated("a://1")));
}

#[test]
fn what_may_not_have_been_told_is_taken_back() {
    let queue = EventQueue::new(&limits());
    queue.put_back();
    assert!(is_ready(queue.emptied()));
    queue.push(&updated("a://1"));
    assert!(!is_ready(queue.emptied()));
    for _ in 0..3 {
        assert_eq!(next(&queue), Some(updated("a://1")));
        assert!(!is_ready(queue.emptied()), "it is under way");
        queue.put_back();
    }
    assert_eq!(next(&queue), Some(updated("a://1")));
    assert_eq!(next(&queue), None);
    assert!(is_ready(queue.emptied()), "it has been told");
    queue.put_back();
    assert_eq!(next(&queue), None);
}
