//! Timeouts of a request, each of which may be infinite.

use std::time::Duration;

use serde_json::Value;
use treenail::agent::OpenAiLimits;

use super::failures::{check_recovery, reported};
use super::fake::{Endpoint, Reply};
use super::{ask, limits, model, question};

fn endless() -> OpenAiLimits {
    limits()
        .connect_timeout(Duration::MAX)
        .first_byte_timeout(Duration::MAX)
        .idle_timeout(Duration::MAX)
        .response_timeout(Duration::MAX)
}

#[tokio::test]
async fn timeouts_may_be_infinite() {
    let endpoint = Endpoint::start([Reply::text("ok then")]);
    let model = model(&endpoint).limits(endless()).build().unwrap();
    let (reply, _) = ask(&model, &question("Why?")).await;
    check_recovery(&endpoint, reply, 1);
}

/// The timeout of the case; all others are infinite. Only `elapse` advances the clock that far.
const BOUND: Duration = Duration::from_secs(86_400);

/// Advances the paused clock by `time` each time that the endpoint falls silent.
///
/// The endpoint works in real time, so the clock must not advance by itself while the runtime is idle: tokio does not do
/// that while a blocking task runs.
async fn elapse(endpoint: &Endpoint, times: usize, time: Duration) {
    let (finished, wait) = std::sync::mpsc::channel::<()>();
    let blocking = tokio::task::spawn_blocking(move || wait.recv());
    for attempt in 0..times {
        while !endpoint.is_silent() {
            if attempt == 0 {
                tokio::task::yield_now().await;
            } else {
                // Ends the backoff before the next attempt.
                tokio::time::advance(Duration::from_millis(1)).await;
            }
        }
        // The runtime checks for input every 61 polls, so the client reads everything that was sent.
        for _ in 0..1_000 {
            tokio::task::yield_now().await;
        }
        tokio::time::advance(time).await;
    }
    drop(finished);
    let _ = blocking.await;
}

#[tokio::test(start_paused = true)]
async fn each_timeout_is_enforced() {
    type Change = fn(&mut OpenAiLimits);

    let first_word = "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1,\
        \"model\":\"fake-1-2026\",\"service_tier\":\"default\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"one";
    let cases: [(Change, Reply, &str); 5] = [
        (
            |limits| limits.first_byte_timeout = BOUND,
            Reply::silent(),
            "no response within 86400s",
        ),
        (
            |limits| limits.first_byte_timeout = BOUND,
            Reply::events("").held(),
            "no response within 86400s",
        ),
        (
            |limits| limits.idle_timeout = BOUND,
            Reply::text("one two").held_before(first_word),
            "the response was interrupted: no data within 86400s",
        ),
        (
            |limits| limits.response_timeout = BOUND,
            Reply::silent(),
            "the response exceeded its timeout of 86400s",
        ),
        (
            |limits| limits.response_timeout = BOUND,
            Reply::json(200, &Value::Null).in_pieces(&[1]).held(),
            "the response exceeded its timeout of 86400s",
        ),
    ];
    for (change, reply, expected) in cases {
        let mut limits = endless();
        change(&mut limits);
        limits.retries = 1;
        let endpoint = Endpoint::start([reply.clone(), reply]);
        let model = model(&endpoint).limits(limits).build().unwrap();
        let asked = question("Why?");
        let ((reply, _), ()) = tokio::join!(ask(&model, &asked), elapse(&endpoint, 2, BOUND));
        assert_eq!(
            reported(&reply.unwrap_err()),
            ("unavailable", expected.to_owned())
        );
        assert_eq!(
            endpoint.all_asked().len(),
            2,
            "{expected}: it is tried again"
        );
        endpoint.is_left();
    }
}

/// A stream of a complete message, without its end marker.
fn unmarked() -> Reply {
    Reply::text("ok then").cut_before("data: [DONE]")
}

#[tokio::test(start_paused = true)]
async fn a_complete_message_counts_at_the_timeout_of_the_response() {
    let endpoint = Endpoint::start([unmarked().held()]);
    let second = Duration::from_secs(1);
    let limits = endless().response_timeout(second);
    let model = model(&endpoint).limits(limits).build().unwrap();
    let asked = question("Why?");
    let ((reply, _), ()) = tokio::join!(ask(&model, &asked), elapse(&endpoint, 1, second));
    check_recovery(&endpoint, reply, 1);
}

#[tokio::test]
async fn comments_after_a_complete_message_do_not_extend_the_wait() {
    let endpoint = Endpoint::start([unmarked().kept_alive()]);
    let limits = endless()
        .idle_timeout(Duration::from_millis(1))
        .response_timeout(Duration::from_secs(60));
    let model = model(&endpoint).limits(limits).build().unwrap();
    let started = std::time::Instant::now();
    let (reply, _) = ask(&model, &question("Why?")).await;
    check_recovery(&endpoint, reply, 1);
    assert!(started.elapsed() < Duration::from_secs(30));
}
