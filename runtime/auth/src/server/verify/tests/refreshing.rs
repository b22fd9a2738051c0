//! Values from a source that may be down: their lifetime, and the times at which they are fetched.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::sync::Notify;

use super::clock;
use crate::server::VerifyError;
use crate::server::verify::refreshing::{Fetched, Refreshing, Source, SourceFuture};
use crate::{AuthError, Clock};

const LIFETIME: Duration = Duration::from_secs(600);
const COOLDOWN: Duration = Duration::from_secs(30);

/// Source of the number of fetches.
#[derive(Clone, Debug, Default)]
struct Counter {
    fetches: Arc<AtomicUsize>,
    is_down: Arc<AtomicBool>,
    panics: Arc<AtomicBool>,
    /// If set, a fetch ends when it is notified.
    gate: Option<Arc<Notify>>,
}

impl Counter {
    fn fetches(&self) -> usize {
        self.fetches.load(Ordering::SeqCst)
    }

    fn set_down(&self, is_down: bool) {
        self.is_down.store(is_down, Ordering::SeqCst);
    }
}

impl Source<usize> for Counter {
    fn fetch(&self) -> SourceFuture<'_, usize> {
        Box::pin(async {
            let value = self.fetches.fetch_add(1, Ordering::SeqCst) + 1;
            if let Some(gate) = &self.gate {
                gate.notified().await;
            }
            assert!(!self.panics.load(Ordering::SeqCst), "a panic of a source");
            if self.is_down.load(Ordering::SeqCst) {
                return Err(AuthError::Unavailable("down".into()));
            }
            Ok(Fetched {
                value,
                lifetime: LIFETIME,
            })
        })
    }
}

fn unavailable<T>() -> Result<T, VerifyError> {
    let retry_after = Duration::from_secs(5);
    Err(VerifyError::Unavailable { retry_after })
}

fn setup() -> (Counter, Clock, Refreshing<usize>) {
    let (counter, clock) = (Counter::default(), clock());
    let value = Refreshing::new(counter.clone(), clock.clone());
    (counter, clock, value)
}

async fn get(value: &Refreshing<usize>) -> Result<usize, VerifyError> {
    value.get().await.map(|value| *value)
}

#[tokio::test]
async fn a_value_is_fetched_at_first_need_and_after_its_lifetime() {
    // AUTH-R-38
    let (counter, clock, value) = setup();
    assert_eq!(counter.fetches(), 0);
    assert_eq!(get(&value).await, Ok(1));
    clock.advance(Duration::from_secs(599));
    assert_eq!(get(&value).await, Ok(1));
    clock.advance(Duration::from_secs(1));
    assert_eq!(get(&value).await, Ok(2));
}

#[tokio::test]
async fn a_former_value_is_used_for_one_hour_while_its_source_is_down() {
    // AUTH-R-38, AUTH-R-20
    let (counter, clock, value) = setup();
    assert_eq!(get(&value).await, Ok(1));
    counter.set_down(true);
    clock.advance(LIFETIME);
    assert_eq!(get(&value).await, Ok(1));
    clock.advance(Duration::from_secs(3599));
    assert_eq!(get(&value).await, Ok(1));
    clock.advance(Duration::from_secs(1));
    assert_eq!(get(&value).await, unavailable());
    counter.set_down(false);
    clock.advance(Duration::from_secs(5));
    assert_eq!(get(&value).await, Ok(counter.fetches()));
}

/// Returns a value whose source answers when the gate is notified, after the lifetime of its first value.
async fn gated() -> (Counter, Arc<Notify>, Clock, Refreshing<usize>) {
    let gate = Arc::new(Notify::new());
    let counter = Counter {
        gate: Some(Arc::clone(&gate)),
        ..Counter::default()
    };
    let clock = clock();
    let value = Refreshing::new(counter.clone(), clock.clone());
    gate.notify_one();
    assert_eq!(get(&value).await, Ok(1));
    clock.advance(LIFETIME);
    (counter, gate, clock, value)
}

#[tokio::test(start_paused = true)]
async fn requests_wait_one_second_for_a_source_that_does_not_answer() {
    let (counter, gate, clock, value) = gated().await;
    let start = tokio::time::Instant::now();
    for _ in 0..3 {
        assert_eq!(get(&value).await, Ok(1), "AUTH-R-38");
        assert_eq!(start.elapsed().as_secs(), 1);
    }
    // Its late answer counts.
    let former = value.get().await.unwrap();
    gate.notify_one();
    let newer = value.newer(&former, COOLDOWN).await;
    assert_eq!(newer, Ok(Some(Arc::new(2))));
    clock.advance(LIFETIME);
    gate.notify_one();
    assert_eq!(get(&value).await, Ok(3));
    assert_eq!(counter.fetches(), 3);
}

#[tokio::test]
async fn requests_do_not_wait_for_a_source_that_has_failed() {
    let (counter, gate, clock, value) = gated().await;
    counter.set_down(true);
    gate.notify_one();
    assert_eq!(get(&value).await, Ok(1));
    // The gate is closed: the next fetch does not end.
    clock.advance(Duration::from_secs(5));
    assert_eq!(get(&value).await, Ok(1));
    tokio::task::yield_now().await;
    assert_eq!(counter.fetches(), 3);
    assert_eq!(get(&value).await, Ok(1));
}

#[tokio::test]
async fn a_source_that_is_down_is_asked_every_five_seconds_at_most() {
    // AUTH-X-24
    let (counter, clock, value) = setup();
    counter.set_down(true);
    for second in 0..10 {
        for _ in 0..1000 {
            assert_eq!(get(&value).await, unavailable());
        }
        assert_eq!(counter.fetches(), 1 + second / 5);
        clock.advance(Duration::from_secs(1));
    }
}

#[tokio::test]
async fn a_newer_value_is_fetched_once_in_a_cooldown() {
    // AUTH-R-39
    let (counter, clock, value) = setup();
    let first = value.get().await.unwrap();
    for _ in 0..1000 {
        assert_eq!(value.newer(&first, COOLDOWN).await, Ok(None));
    }
    clock.advance(COOLDOWN);
    let second = value.newer(&first, COOLDOWN).await.unwrap().unwrap();
    assert_eq!(*second, 2);
    assert_eq!(value.newer(&second, COOLDOWN).await, Ok(None));
    // A request that had read the value before the fetch.
    assert_eq!(value.newer(&first, COOLDOWN).await, Ok(Some(Arc::new(2))));
    counter.set_down(true);
    clock.advance(COOLDOWN);
    assert_eq!(value.newer(&second, COOLDOWN).await, unavailable());
    clock.advance(Duration::from_secs(29));
    assert_eq!(value.newer(&second, COOLDOWN).await, unavailable());
    assert_eq!(counter.fetches(), 3);
    assert_eq!(get(&value).await, Ok(2));
}

#[tokio::test]
async fn concurrent_requests_cause_one_fetch() {
    // AUTH-R-39
    let gate = Arc::new(Notify::new());
    let counter = Counter {
        gate: Some(Arc::clone(&gate)),
        ..Counter::default()
    };
    let value = Arc::new(Refreshing::new(counter.clone(), clock()));
    let tasks: Vec<_> = (0..100)
        .map(|_| {
            let value = Arc::clone(&value);
            tokio::spawn(async move { get(&value).await })
        })
        .collect();
    tokio::task::yield_now().await;
    gate.notify_one();
    for task in tasks {
        assert_eq!(task.await.unwrap(), Ok(1));
    }
    assert_eq!(counter.fetches(), 1);
}

#[tokio::test]
async fn a_peer_that_hangs_up_does_not_end_the_fetch() {
    let gate = Arc::new(Notify::new());
    let counter = Counter {
        gate: Some(Arc::clone(&gate)),
        ..Counter::default()
    };
    let value = Refreshing::new(counter.clone(), clock());
    tokio::select! {
        biased;
        _ = value.get() => panic!("the gate is closed"),
        () = tokio::task::yield_now() => {}
    }
    gate.notify_one();
    assert_eq!(get(&value).await, Ok(1));
    assert_eq!(counter.fetches(), 1);
}

#[tokio::test]
async fn a_source_that_panics_counts_as_down() {
    let (counter, clock, value) = setup();
    counter.panics.store(true, Ordering::SeqCst);
    assert_eq!(get(&value).await, unavailable());
    counter.panics.store(false, Ordering::SeqCst);
    clock.advance(Duration::from_secs(5));
    assert_eq!(get(&value).await, Ok(2));
}

#[test]
fn a_runtime_that_shuts_down_is_an_outage() {
    let (counter, _, value) = setup();
    let value = Arc::new(value);
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let runtime = runtime.unwrap();
    let handle = runtime.handle().clone();
    drop(runtime);
    // A deadlock would block the thread.
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let _guard = handle.enter();
        let mut context = Context::from_waker(Waker::noop());
        let got = Box::pin(get(&value)).as_mut().poll(&mut context);
        let newer = Box::pin(value.newer(&Arc::new(0), Duration::ZERO))
            .as_mut()
            .poll(&mut context);
        sender.send((got, newer)).unwrap();
    });
    let outcome = receiver.recv_timeout(Duration::from_secs(10)).unwrap();
    let expected = (Poll::Ready(unavailable()), Poll::Ready(unavailable()));
    assert_eq!(outcome, expected);
    assert_eq!(counter.fetches(), 0);
}
