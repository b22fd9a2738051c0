//! Idle sessions, and their end.

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, timeout};
use treenail::Limits;
use treenail::context::Extensions;
use treenail::http::{HttpService, http_service};
use treenail::limits::HttpLimits;
use treenail::observe::{Observation, ObservedRequest, ObservedSession, ServerObserver};
use treenail::schema::Revision;

use super::{Client, events, initialize, next_events};
use crate::client::{Post, next};
use crate::fixture::{builder, service, service_within};

const SECOND: Duration = Duration::from_secs(1);

/// Returns a service whose sessions expire before the end of a `nap`.
fn impatient_service() -> HttpService {
    let limits = HttpLimits::default().session_idle_timeout(40 * SECOND);
    service_within(Limits::default().http(limits))
}

fn nap(client: &Client) -> Post {
    client.tool(2, "nap", &json!({"tell": false}))
}

#[tokio::test(start_paused = true)]
async fn an_idle_session_expires() {
    let service = service();
    let client = Client::start(&service, Revision::LATEST_LEGACY).await;
    tokio::time::advance(Duration::from_secs(29 * 60)).await;
    assert_eq!(client.send(client.ping()).await.status, 200);
    tokio::time::advance(Duration::from_secs(31 * 60)).await;
    assert_eq!(client.send(client.ping()).await.status, 404, "SRV-LHTTP-19");
}

#[tokio::test(start_paused = true)]
async fn a_session_is_idle_from_the_end_of_its_last_call() {
    let service = impatient_service();
    let client = Client::start(&service, Revision::V2025_06_18).await;
    assert_eq!(client.send(nap(&client)).await.status, 200);
    assert_eq!(client.send(client.ping()).await.status, 200);
    assert_eq!(client.send(nap(&client)).await.status, 200);
    sleep(39 * SECOND).await;
    assert_eq!(client.send(client.ping()).await.status, 200);
    assert_eq!(client.send(nap(&client)).await.status, 200);
    sleep(41 * SECOND).await;
    assert_eq!(client.send(client.ping()).await.status, 404, "SRV-LHTTP-19");
}

#[tokio::test(start_paused = true)]
async fn a_session_is_idle_from_the_end_of_its_last_stream() {
    let service = impatient_service();
    let client = Client::start(&service, Revision::LATEST_LEGACY).await;
    let mut body = client.open(client.get()).await;
    let first = next_events(&mut body).await;
    let listening = async { while next(&mut body).await.is_some() {} };
    assert!(timeout(60 * SECOND, listening).await.is_err());
    drop(body);
    sleep(39 * SECOND).await;
    let get = client.get().with("last-event-id", &first[0].0);
    let response = get.begin(&service).await;
    assert_eq!(response.status(), 200, "SRV-LHTTP-10");
    drop(response);
    sleep(41 * SECOND).await;
    assert_eq!(client.send(client.ping()).await.status, 404, "SRV-LHTTP-19");
}

#[tokio::test(start_paused = true)]
async fn the_result_of_a_long_call_is_available_for_the_idle_timeout() {
    let service = impatient_service();
    let client = Client::start(&service, Revision::LATEST_LEGACY).await;
    let closed = client.send(nap(&client)).await;
    let found = events(&closed.body.into());
    sleep(90 * SECOND).await;
    let get = client.get().with("last-event-id", &found[0].0);
    let rest = client.send(get).await;
    assert_eq!(rest.status, 200, "SRV-LHTTP-10");
    assert!(rest.body.contains("rested"), "{rest:?}");
}

#[tokio::test(start_paused = true)]
async fn sessions_are_evicted_in_the_order_in_which_they_became_idle() {
    let limits = Limits::default().http(HttpLimits::default().sessions(3));
    let service = service_within(limits);
    let start = async || Client::start(&service, Revision::V2025_06_18).await;
    let (calling, listening, pinging) = (start().await, start().await, start().await);
    let stream = listening.open(listening.get()).await;
    let call = calling.spawn_send(nap(&calling));
    sleep(30 * SECOND).await;
    assert_eq!(pinging.send(pinging.ping()).await.status, 200);
    assert_eq!(call.await.unwrap().status, 200);
    sleep(SECOND).await;
    drop(stream);
    sleep(SECOND).await;
    for evicted in [&pinging, &calling, &listening] {
        let response = initialize(Revision::LATEST_LEGACY).send(&service).await;
        assert_eq!(response.status, 200);
        // Looking at the others would count as their use.
        let ping = evicted.send(evicted.ping()).await;
        assert_eq!(ping.status, 404, "SRV-LHTTP-19");
    }
}

/// Notifies when a session ends.
#[derive(Debug)]
struct Ends(Arc<Notify>);

struct OnEnd(Arc<Notify>);

impl Drop for OnEnd {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

impl ServerObserver for Ends {
    fn request(&self, _: &ObservedRequest<'_>, _: &mut Extensions) -> Option<Box<dyn Observation>> {
        None
    }

    fn session(&self, _: &ObservedSession) -> Option<Box<dyn Any + Send + Sync>> {
        Some(Box::new(OnEnd(Arc::clone(&self.0))))
    }
}

fn observed_service() -> (HttpService, Arc<Notify>) {
    let ended = Arc::<Notify>::default();
    let builder = builder().observe(Ends(Arc::clone(&ended)));
    (http_service(builder.build().unwrap()), ended)
}

#[tokio::test(start_paused = true)]
async fn an_abandoned_session_ends_without_another_request() {
    let (service, ended) = observed_service();
    for _ in 0..2 {
        let start = Instant::now();
        let client = Client::start(&service, Revision::LATEST_LEGACY).await;
        ended.notified().await;
        let minutes = start.elapsed().as_secs() / 60;
        assert!((30..45).contains(&minutes), "{minutes}");
        assert_eq!(client.send(client.ping()).await.status, 404, "SRV-LHTTP-19");
    }
}

#[test]
fn idle_sessions_end_after_the_end_of_the_runtime_that_started_the_first() {
    let paused = || -> Runtime {
        let mut runtime = Builder::new_current_thread();
        runtime.enable_time().start_paused(true).build().unwrap()
    };
    let (service, ended) = observed_service();
    let start = || Client::start(&service, Revision::LATEST_LEGACY);
    let first = paused();
    first.block_on(start());
    drop(first);
    paused().block_on(async {
        start().await;
        let both = async {
            ended.notified().await;
            ended.notified().await;
        };
        let both = timeout(Duration::from_secs(2 * 60 * 60), both).await;
        assert!(both.is_ok(), "a session has not ended");
    });
}
