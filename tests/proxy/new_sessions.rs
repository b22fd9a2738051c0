//! State of sessions of the legacy era: the proxy restores it in the next one, and requests again what was lost.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use treenail::client::{
    ClientError, ClientLimits, Session, SessionFuture, SessionRequest, SessionWrapper,
};
use treenail::proxy::Remote;
use treenail::schema::LoggingLevel;

use crate::questions::settle;
use crate::script::{ExpiringSession, Line, scripted, text};
use crate::station::{LEGACY, MODERN, client_of, gateway};
use crate::subscription_faults::{REPORT, answer, next};
use crate::waiting_calls::slow_user;

/// Server of the legacy era whose sessions end when the flag is set. It sends its messages in short to the receiver.
fn expiring() -> (Remote, Arc<AtomicBool>, UnboundedReceiver<String>) {
    let (messages, receiver) = unbounded_channel();
    let expired = Arc::<AtomicBool>::default();
    let flag = Arc::clone(&expired);
    let remote = Remote::new("script", move || {
        let (messages, flag) = (messages.clone(), Arc::clone(&flag));
        let react = move |message: &Value, line: &Line| {
            let (method, params) = (message["method"].as_str().unwrap(), &message["params"]);
            let detail = [&params["uri"], &params["level"]];
            let detail = detail.into_iter().find_map(Value::as_str);
            if !method.ends_with("/list") {
                let short = format!("{method} {}", detail.unwrap_or_default());
                messages.send(short.trim_end().to_owned()).unwrap();
            }
            answer(message, line);
            true
        };
        let builder = scripted(Box::new(react), &ClientLimits::default());
        builder
            .protocol_version(LEGACY)
            .wrap_session(move |session| {
                let expired = Arc::clone(&flag);
                Arc::new(ExpiringSession { session, expired })
            })
    });
    (remote, expired, receiver)
}

/// Receives messages until all of these have arrived. Returns the other ones.
async fn receive(messages: &mut UnboundedReceiver<String>, expected: &[&str]) -> Vec<String> {
    let (mut missing, mut others) = (expected.to_vec(), Vec::new());
    while !missing.is_empty() {
        let Some(message) = next(messages).await else {
            panic!("missing: {missing:?}; received: {others:?}");
        };
        match missing.iter().position(|one| *one == message) {
            Some(at) => drop(missing.remove(at)),
            None => others.push(message),
        }
    }
    others
}

#[tokio::test(start_paused = true)]
async fn a_new_session_of_a_server_has_the_subscriptions_and_the_log_level() {
    let (remote, expired, mut messages) = expiring();
    let (gateway, proxy) = gateway();
    proxy.mount(remote).unwrap().connected().await;
    let client = client_of(&gateway, LEGACY).build().await.unwrap();
    let session = client.session();
    session
        .logging_set_level(LoggingLevel::Debug)
        .await
        .unwrap();
    session.resources_subscribe(REPORT).await.unwrap();
    client.call_tool("script.good", ()).await.unwrap();
    let (subscribed, level) = (
        "resources/subscribe data://report",
        "logging/setLevel debug",
    );
    receive(
        &mut messages,
        &["initialize", subscribed, level, "tools/call"],
    )
    .await;
    // The call finds out that the session has ended.
    expired.store(true, Ordering::SeqCst);
    client.call_tool("script.good", ()).await.unwrap();
    let others = receive(&mut messages, &["initialize", level, "tools/call"]).await;
    if !others.iter().any(|one| one == subscribed) {
        receive(&mut messages, &[subscribed]).await;
    }
    // A subscription finds it out.
    settle().await;
    expired.store(true, Ordering::SeqCst);
    session.resources_subscribe("data://other").await.unwrap();
    let other = "resources/subscribe data://other";
    receive(&mut messages, &["initialize", other, subscribed]).await;
    client.call_tool("script.good", ()).await.unwrap();
    receive(&mut messages, &[level, "tools/call"]).await;
}

#[tokio::test(start_paused = true)]
async fn a_log_level_that_was_lost_with_its_call_is_requested_again() {
    let (levels, mut requested) = unbounded_channel();
    let remote = Remote::new("script", move || {
        let levels = levels.clone();
        let react = move |message: &Value, line: &Line| {
            let level = message["params"]["level"].as_str();
            let Some(level) = level.filter(|_| message["method"] == "logging/setLevel") else {
                answer(message, line);
                return true;
            };
            // The first request is not answered.
            if level != "warning" {
                answer(message, line);
            }
            levels.send(level.to_owned()).unwrap();
            true
        };
        scripted(Box::new(react), &ClientLimits::default()).protocol_version(LEGACY)
    });
    let (gateway, proxy) = gateway();
    proxy.mount(remote).unwrap().connected().await;
    let client = client_of(&gateway, MODERN).build().await.unwrap();
    let call = |level| {
        let request = client.session().tools_call("script.good", ());
        request.log_level(level).into_future()
    };
    let dropped = tokio::spawn(call(LoggingLevel::Warning));
    assert_eq!(requested.recv().await.as_deref(), Some("warning"));
    dropped.abort();
    settle().await;
    for (level, expected) in [
        (LoggingLevel::Error, Some("error")),
        (LoggingLevel::Error, None),
        (LoggingLevel::Debug, Some("debug")),
        (LoggingLevel::Info, None),
    ] {
        call(level).await.unwrap();
        assert_eq!(requested.try_recv().ok().as_deref(), expected, "{level}");
    }
}

/// Session whose credentials are missing for the first request of a log level.
#[derive(Debug)]
struct SignedOut {
    session: Arc<dyn Session>,
    refused: AtomicBool,
}

impl SessionWrapper for SignedOut {
    fn inner(&self) -> &dyn Session {
        &*self.session
    }

    fn request(&self, request: SessionRequest) -> SessionFuture<'_, String> {
        if request.method == "logging/setLevel" && !self.refused.swap(true, Ordering::SeqCst) {
            let error = std::io::Error::other("the user is signed out");
            return Box::pin(async { Err(ClientError::authorization(error)) });
        }
        self.session.request(request)
    }
}

#[tokio::test(start_paused = true)]
async fn a_log_level_that_lacked_credentials_is_requested_again() {
    let (levels, mut requested) = unbounded_channel();
    let remote = Remote::new("script", move || {
        let levels = levels.clone();
        let react = move |message: &Value, line: &Line| {
            if let Some(level) = message["params"]["level"].as_str() {
                levels.send(level.to_owned()).unwrap();
            }
            answer(message, line);
            true
        };
        let builder = scripted(Box::new(react), &ClientLimits::default());
        builder.protocol_version(LEGACY).wrap_session(|session| {
            let refused = AtomicBool::new(false);
            Arc::new(SignedOut { session, refused })
        })
    });
    let (gateway, proxy) = gateway();
    proxy.mount(remote).unwrap().connected().await;
    let client = client_of(&gateway, MODERN).build().await.unwrap();
    for expected in [None, Some("error"), None] {
        let request = client.session().tools_call("script.good", ());
        let called = request.log_level(LoggingLevel::Error).into_future();
        called.await.unwrap();
        assert_eq!(requested.try_recv().ok().as_deref(), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn a_question_of_a_new_session_may_have_an_id_of_the_earlier_one() {
    let expired = Arc::<AtomicBool>::default();
    let flag = Arc::clone(&expired);
    let called = Arc::new(Mutex::new(Value::Null));
    let remote = Remote::new("script", move || {
        let called = Arc::clone(&called);
        let react = move |message: &Value, line: &Line| {
            match message["method"].as_str() {
                Some("tools/call") => {
                    *called.lock().unwrap() = message.clone();
                    line.send(&json!({
                        "jsonrpc": "2.0", "id": 0, "method": "elicitation/create",
                        "params": {"message": "Sure?", "requestedSchema": {"type": "object", "properties": {}}},
                    }));
                }
                Some(_) => answer(message, line),
                None => {
                    let answer = message["result"]["action"].as_str();
                    let answer = answer.or(message["error"]["message"].as_str()).unwrap();
                    line.answer(&called.lock().unwrap(), &text(answer));
                }
            }
            true
        };
        let builder = scripted(Box::new(react), &ClientLimits::default());
        let flag = Arc::clone(&flag);
        builder
            .protocol_version(LEGACY)
            .wrap_session(move |session| {
                let expired = Arc::clone(&flag);
                Arc::new(ExpiringSession { session, expired })
            })
    });
    let (gateway, proxy) = gateway();
    proxy.mount(remote).unwrap().connected().await;
    let (asked, answer) = (Arc::default(), Arc::default());
    let builder = slow_user(client_of(&gateway, MODERN), &asked, &answer);
    let client = builder.build().await.unwrap();
    let call = || tokio::spawn(client.session().tools_call("script.good", ()).into_future());
    let first = call();
    asked.notified().await;
    expired.store(true, Ordering::SeqCst);
    let second = call();
    asked.notified().await;
    // The users of both calls answer.
    answer.notify_one();
    settle().await;
    answer.notify_one();
    let result = second.await.unwrap().unwrap();
    assert_eq!(result.as_text(), Some("accept"));
    first.abort();
}
