//! Message encoding and the event queue.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use crate::bus::message::MessageCodec;
use crate::bus::queue::EventQueue;
use crate::limits::{EventLimits, Limits, SubscriptionLimits};
use crate::server::subscriptions::{Event, Kind};

fn limits() -> Limits {
    Limits::default()
        .events(EventLimits::default().queued(3))
        .subscriptions(SubscriptionLimits::default().bytes(32))
}

fn codec(server: &str, replica: &str) -> MessageCodec {
    MessageCodec::new(server, replica.to_owned(), &limits())
}

fn updated(uri: &str) -> Event {
    Event::ResourceUpdated(uri.into())
}

/// Returns the next event, if one is queued.
fn poll_next(queue: &EventQueue) -> Option<Event> {
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
fn only_other_replicas_of_the_same_server_decode_an_event() {
    let (here, there) = (codec("de\"sk", "1"), codec("de\"sk", "2"));
    let lists = Kind::ALL.map(Event::from);
    // The longest URI, in which each byte needs the longest escape.
    let longest = "\u{1}".repeat(limits().subscriptions.bytes);
    let others = [updated("notes://7"), updated(&longest), Event::Resync];
    for event in lists.iter().chain(&others) {
        let message = here.encode(event);
        assert_eq!(there.decode(&message), Ok(Some(event.clone())));
        assert_eq!(here.decode(&message), Ok(None), "its own message");
        assert_eq!(codec("other", "2").decode(&message), Ok(None));
    }
}

#[test]
fn invalid_messages_are_rejected() {
    let there = codec("desk", "2");
    let message = |version: &str, event: &str| {
        format!(r#"{{"version":{version},"server":"desk","replica":"1",{event}}}"#)
    };
    let long = message("1", &format!(r#""event":"{}""#, "x".repeat(1_000)));
    let cases = [
        (String::new(), "not an event message"),
        ("null".to_owned(), "not an event message"),
        ("\u{0}\u{0}".to_owned(), "not an event message"),
        ("[".repeat(400), "not an event message"),
        (r#"{"version":1}"#.to_owned(), "not an event message"),
        (message("1", r#""event":7"#), "not an event message"),
        (
            message("-1", r#""event":"everything""#),
            "not an event message",
        ),
        (
            message("2", r#""event":"everything""#),
            "unsupported version",
        ),
        (message("1", r#""event":"else""#), "unknown event"),
        (
            message("1", r#""event":"resources/updated""#),
            "unknown event",
        ),
        (long, "too long"),
    ];
    for (message, reason) in cases {
        assert_eq!(there.decode(message.as_bytes()), Err(reason), "{message}");
    }
    let good = codec("desk", "1").encode(&updated("notes://7"));
    for index in 0..good.len() {
        assert!(there.decode(&good[..index]).is_err(), "{index}");
        let mut broken = good.clone();
        broken[index] = 0xff;
        assert!(there.decode(&broken).is_err(), "{index}");
    }
    fastrand::seed(7);
    for length in 0..1_000 {
        let noise: Vec<u8> = (0..length).map(|_| fastrand::u8(..)).collect();
        assert!(there.decode(&noise).is_err(), "{noise:?}");
    }
    // Unknown members are ignored, so that a later release can add some.
    let more = message(
        "1",
        r#""event":"resources/updated","uri":"notes://7","more":[{}]"#,
    );
    assert_eq!(
        there.decode(more.as_bytes()),
        Ok(Some(updated("notes://7")))
    );
}

#[test]
fn equal_events_are_queued_once() {
    let queue = EventQueue::new(&limits());
    assert_eq!(poll_next(&queue), None);
    for _ in 0..5 {
        queue.push(&updated("a://1"));
        queue.push(&Kind::Tools.into());
        queue.push(&updated("a://2"));
        queue.push(&updated(&"x".repeat(33)));
    }
    assert_eq!(poll_next(&queue), Some(Kind::Tools.into()));
    assert_eq!(poll_next(&queue), Some(updated("a://1")));
    // The resource of an event in flight may change again.
    queue.push(&updated("a://1"));
    assert_eq!(poll_next(&queue), Some(updated("a://2")));
    assert_eq!(poll_next(&queue), Some(updated("a://1")));
    assert_eq!(poll_next(&queue), None);
}

#[test]
fn an_overflowing_queue_becomes_one_event() {
    let queue = EventQueue::new(&limits());
    for index in 0..100 {
        queue.push(&updated(&format!("a://{index}")));
        queue.push(&Kind::Prompts.into());
    }
    assert_eq!(poll_next(&queue), Some(Event::Resync));
    assert_eq!(poll_next(&queue), None);
    queue.push(&updated("a://1"));
    assert_eq!(poll_next(&queue), Some(updated("a://1")));
}

#[test]
fn the_event_in_flight_can_be_requeued() {
    let queue = EventQueue::new(&limits());
    queue.requeue_in_flight();
    assert!(is_ready(queue.emptied()));
    queue.push(&updated("a://1"));
    assert!(!is_ready(queue.emptied()));
    for _ in 0..3 {
        assert_eq!(poll_next(&queue), Some(updated("a://1")));
        assert!(!is_ready(queue.emptied()), "the event is in flight");
        queue.requeue_in_flight();
    }
    assert_eq!(poll_next(&queue), Some(updated("a://1")));
    assert_eq!(poll_next(&queue), None);
    assert!(is_ready(queue.emptied()), "the event is published");
    queue.requeue_in_flight();
    assert_eq!(poll_next(&queue), None);
}

#[test]
fn unlimited_uris_make_unlimited_messages() {
    let unlimited = SubscriptionLimits::default().bytes(usize::MAX);
    let limits = Limits::default().subscriptions(unlimited);
    let codec = MessageCodec::new("desk", "1".to_owned(), &limits);
    assert_eq!(codec.max_message_bytes(), usize::MAX);
}
