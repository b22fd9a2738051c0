//! Step-ups: parallel ones, and their bounds.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::StatusCode;
use tokio::sync::Notify;

use super::fixture::{REDIRECT_URI, Resource, Verdict, approve, call, call_tool, oauth, session};
use crate::testing::{Approval, Endpoint, Fault, TestAuthorizationServer, TestClient};
use crate::{
    AuthorizationRequest, Callback, ClientCredentials, Generation, MemoryStore, OAuth, Scopes,
    StepUp, StoreFuture, StoreKey, StoreLock, StoredEntry, TokenStore,
};

async fn start() -> (TestAuthorizationServer, Resource) {
    let planner = TestClient::secret("planner", "s3cret");
    let builder = TestAuthorizationServer::builder().client(planner);
    let server = builder.start().await.unwrap();
    let resource = Resource::start(&server).await;
    (server, resource)
}

/// Returns the scopes of an access token.
fn granted(token: &str) -> Scopes {
    let payload = token.split('.').nth(1).unwrap();
    let payload = URL_SAFE_NO_PAD.decode(payload).unwrap();
    let claims: serde_json::Value = serde_json::from_slice(&payload).unwrap();
    let scopes = claims["scope"].as_str().unwrap_or_default();
    scopes.parse().unwrap()
}

fn insufficient(scopes: &str) -> Verdict {
    let challenge = format!(r#"Bearer error="insufficient_scope", scope="{scopes}""#);
    Verdict::Forbidden(challenge)
}

/// Lets each tool require the scopes of its name. Returns the event of the given number of refusals.
fn require_names(resource: &Resource, refusals: usize) -> Arc<Notify> {
    let all_refused = Arc::new(Notify::new());
    let (notify, mut refused) = (all_refused.clone(), 0);
    resource.rule(move |seen| {
        let required: Scopes = match &*seen.method {
            "tools/call" => seen.name.parse().unwrap(),
            _ => Scopes::default(),
        };
        match &seen.token {
            None => Verdict::Unauthorized(r#", scope="basic""#.into()),
            Some(token) if granted(token).is_superset(&required) => Verdict::Accept,
            Some(_) => {
                refused += 1;
                if refused == refusals {
                    notify.notify_one();
                }
                insufficient(&seen.name)
            }
        }
    });
    all_refused
}

/// Calls tools in parallel. The user approves the first step-up after all of them were refused. Returns the scopes of the
/// authorizations.
async fn call_in_parallel(tools: &[&'static str]) -> Vec<String> {
    let (server, resource) = start().await;
    let all_refused = require_names(&resource, tools.len());
    let approve_later = move |request: AuthorizationRequest| {
        let all_refused = all_refused.clone();
        let is_step_up = request.scopes().to_string() != "basic";
        async move {
            if is_step_up {
                all_refused.notified().await;
                all_refused.notify_one();
            }
            approve(request).await
        }
    };
    let client = OAuth::callback("test client", Callback::new(REDIRECT_URI, approve_later));
    let session = Arc::new(session(&resource, &client));
    call(&session, "tools/list").await.unwrap();
    let calls = tools.iter().map(|&tool| {
        let session = session.clone();
        tokio::spawn(async move { call_tool(&session, tool).await })
    });
    for call in calls.collect::<Vec<_>>() {
        call.await.unwrap().unwrap();
    }
    let requests = server.requests_at(Endpoint::Authorization);
    let scopes = requests.iter().map(|one| one.parameter("scope"));
    scopes.map(|scope| scope.unwrap().to_owned()).collect()
}

#[tokio::test]
async fn parallel_calls_of_one_tool_share_a_step_up() {
    let scopes = call_in_parallel(&["write"; 4]).await;
    assert_eq!(scopes, ["basic", "basic write"], "AUTH-C-109 AUTH-C-116");
}

#[tokio::test]
async fn parallel_calls_with_different_scopes_ask_the_user_together() {
    let scopes = call_in_parallel(&["a", "b", "c", "d", "e", "f"]).await;
    assert!(scopes.len() <= 4, "AUTH-C-105 AUTH-C-116: {scopes:?}");
    let last = scopes.last().unwrap();
    assert_eq!(last, "a b basic c d e f", "AUTH-C-106");
}

#[tokio::test]
async fn an_outage_does_not_count_as_a_step_up() {
    let (server, resource) = start().await;
    require_names(&resource, 0);
    let credentials = ClientCredentials::secret("planner", "s3cret");
    let client = OAuth::client_credentials(credentials.issuer(server.issuer()));
    let session = session(&resource, &client);
    call(&session, "tools/list").await.unwrap();
    let outage = Fault::Status(Endpoint::Token, StatusCode::SERVICE_UNAVAILABLE);
    server.inject(outage);
    for _ in 0..4 {
        call_tool(&session, "write").await.unwrap_err();
    }
    server.clear_faults();
    call_tool(&session, "write").await.expect("AUTH-C-105");
}

/// Allows each step-up, and counts the questions.
fn count_questions(questions: &Arc<AtomicUsize>) -> StepUp {
    let questions = questions.clone();
    StepUp::ask(move |_| {
        questions.fetch_add(1, Ordering::Relaxed);
        async { true }
    })
}

#[tokio::test]
async fn a_later_call_may_require_scopes_that_were_never_asked_for() {
    let (server, resource) = start().await;
    resource.rule(|seen| match &seen.token {
        None => Verdict::Unauthorized(r#", scope="read""#.into()),
        Some(token) if !granted(token).contains("write") => insufficient("write"),
        Some(token) if !granted(token).contains("admin") => insufficient("admin write"),
        Some(_) => Verdict::Accept,
    });
    let questions = Arc::new(AtomicUsize::new(0));
    let session = session(&resource, &oauth().step_up(count_questions(&questions)));
    let error = call_tool(&session, "tool").await.unwrap_err().to_string();
    assert!(
        error.contains("one step-up for this request"),
        "AUTH-C-109: {error}"
    );
    assert_eq!(questions.load(Ordering::Relaxed), 1, "AUTH-C-105");
    assert_eq!(
        server.requests_at(Endpoint::Authorization).len(),
        2,
        "AUTH-C-109"
    );
    call_tool(&session, "tool").await.expect("AUTH-C-109");
    assert_eq!(server.requests_at(Endpoint::Authorization).len(), 3);
}

#[tokio::test]
async fn a_user_who_declines_is_asked_once_for_a_scope_and_three_times_for_an_operation() {
    let (server, resource) = start().await;
    let questions = Arc::new(AtomicUsize::new(0));
    let session = session(&resource, &oauth().step_up(count_questions(&questions)));
    call(&session, "tools/list").await.unwrap();
    server.approve(Approval::Denied);
    server.clear_requests();
    for (scope, authorizations) in [("a", 1), ("a", 1), ("b", 2), ("b", 2), ("c", 3), ("d", 3)] {
        resource.rule(move |seen| match &*seen.method {
            "tools/call" => insufficient(scope),
            _ => Verdict::Accept,
        });
        // Requests that succeed reset the count of the session.
        call(&session, "tools/list").await.unwrap();
        call_tool(&session, "tool").await.unwrap_err();
        let requests = server.requests_at(Endpoint::Authorization);
        assert_eq!(requests.len(), authorizations, "AUTH-C-109: {scope}");
        // Nor is the program asked about a step-up that cannot happen.
        let questions = questions.load(Ordering::Relaxed);
        assert_eq!(questions, authorizations, "AUTH-C-105: {scope}");
    }
}

/// Store whose next read waits for the gate, once that is closed.
#[derive(Debug, Default)]
struct GatedStore {
    inner: MemoryStore,
    is_closed: AtomicBool,
    reached: Notify,
    opened: Notify,
}

impl TokenStore for GatedStore {
    fn load<'a>(&'a self, key: &'a StoreKey) -> StoreFuture<'a, Option<StoredEntry>> {
        Box::pin(async move {
            if self.is_closed.swap(false, Ordering::Relaxed) {
                self.reached.notify_one();
                self.opened.notified().await;
            }
            self.inner.load(key).await
        })
    }

    fn store<'a>(&'a self, key: &'a StoreKey, entry: StoredEntry) -> StoreFuture<'a, ()> {
        self.inner.store(key, entry)
    }

    fn delete<'a>(&'a self, key: &'a StoreKey, generation: Generation) -> StoreFuture<'a, bool> {
        self.inner.delete(key, generation)
    }

    fn lock<'a>(&'a self, key: &'a StoreKey) -> StoreFuture<'a, StoreLock> {
        self.inner.lock(key)
    }
}

#[tokio::test]
async fn a_step_up_that_the_scope_filter_forbids_fails_no_other_call() {
    let (_server, resource) = start().await;
    require_names(&resource, 0);
    let forbidden = ["admin", "admin a", "admin b", "admin c"];
    let (store, asked) = (Arc::new(GatedStore::default()), Arc::new(Notify::new()));
    let (gate, count) = (store.clone(), AtomicUsize::new(0));
    let ask = move |scopes: Scopes| {
        if scopes.contains("admin") && count.fetch_add(1, Ordering::Relaxed) + 1 == forbidden.len()
        {
            asked.notify_one();
        }
        let (gate, asked) = (gate.clone(), asked.clone());
        async move {
            if scopes.contains("write") {
                // The authorization of the first call goes on after all others have joined it.
                asked.notified().await;
                gate.reached.notified().await;
                gate.opened.notify_one();
            }
            true
        }
    };
    let client = oauth().store(store.clone()).step_up(StepUp::ask(ask));
    let client = client.scope_filter(|scopes| scopes.clone().without("admin"));
    let session = Arc::new(session(&resource, &client));
    call(&session, "tools/list").await.unwrap();
    store.is_closed.store(true, Ordering::Relaxed);
    let spawn = |tool: &'static str| {
        let session = session.clone();
        tokio::spawn(async move { call_tool(&session, tool).await })
    };
    let (calls, other) = (forbidden.map(spawn), spawn("write"));
    for call in calls {
        let error = call.await.unwrap().unwrap_err().to_string();
        assert!(error.contains("the scope filter"), "{error}");
    }
    other.await.unwrap().expect("its scope is allowed");
}
