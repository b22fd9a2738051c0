//! Credentials that change while a session runs, and servers that require them.

mod outages;
mod refusals;
mod requests;

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use http::{HeaderMap, HeaderValue, StatusCode};
use tokio::sync::Notify;
use treenail::client::{AuthorizationFuture, HttpAttempt, HttpAuthorization, HttpSession, Refusal};

use super::listener::TestSession;
use super::scripted_server::{Received, ScriptedServer};

/// Tokens `t0`, `t1`, … The next one is used after each refusal.
#[derive(Debug, Default)]
struct Tokens {
    current: AtomicU32,
    /// Refusals are the result after this many.
    last: Option<u32>,
    log: Mutex<Vec<String>>,
    /// Blocks [`HttpAuthorization::refused`] until it is notified.
    gate: Option<Notify>,
    waiting: AtomicBool,
}

impl Tokens {
    fn log(&self) -> Vec<String> {
        std::mem::take(&mut *self.log.lock().unwrap())
    }
}

impl HttpAuthorization for Tokens {
    fn authorize<'a>(
        &'a self,
        request: &'a mut HttpAttempt<'_>,
        headers: &'a mut HeaderMap,
    ) -> AuthorizationFuture<'a, ()> {
        let (method, path) = (request.http_method, request.url.path());
        let operation = request
            .operation
            .map_or_else(String::new, |(method, name)| {
                format!(" {method} {}", name.unwrap_or("-"))
            });
        let (previous, revision) = (request.previous, request.revision);
        let state = request.state.is_some();
        let line = format!("{method} {path}{operation} {previous} {state} {revision:?}");
        self.log.lock().unwrap().push(line);
        let token = format!("Bearer t{}", self.current.load(Ordering::SeqCst));
        headers.insert("authorization", HeaderValue::try_from(token).unwrap());
        Box::pin(async { Ok(()) })
    }

    fn refused<'a>(
        &'a self,
        request: &'a mut HttpAttempt<'_>,
        status: StatusCode,
        response: &'a HeaderMap,
    ) -> AuthorizationFuture<'a, Refusal> {
        let challenge = response.get("www-authenticate");
        let challenge = challenge.map_or("", |value| value.to_str().unwrap());
        let peer = request.peer;
        let line = format!("refused {status} {challenge} by {peer:?}");
        self.log.lock().unwrap().push(line);
        if !request.may_ask_user {
            return Box::pin(async { Ok(Refusal::Final) });
        }
        request.state = Some(Box::new(7));
        Box::pin(async move {
            self.waiting.store(true, Ordering::SeqCst);
            if let Some(gate) = &self.gate {
                gate.notified().await;
            }
            let count = self.current.fetch_add(1, Ordering::SeqCst) + 1;
            Ok(match self.last {
                Some(last) if count > last => Refusal::Final,
                _ => Refusal::Retry,
            })
        })
    }
}

fn has_token(received: &Received, token: &str) -> bool {
    received.header("authorization") == Some(&*format!("Bearer {token}"))
}

fn client(server: &ScriptedServer, tokens: &Arc<Tokens>) -> TestSession {
    let builder = HttpSession::builder(&server.url).authorization(Arc::clone(tokens));
    TestSession::from_builder(builder)
}
