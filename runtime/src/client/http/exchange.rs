//! One request and its answer.

use std::future::{Future, pending, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use http::StatusCode;
use hyper::body::Incoming as Body;
use tokio::runtime::Handle;
use tokio::time::sleep;
use treenail_schema::Revision;

use crate::client::fetch::head::may_pass;
use crate::client::fetch::sse::{Event, Position};
use crate::client::http::events::Events;
use crate::client::http::hear::Source;
use crate::client::http::legacy::Standing;
use crate::client::http::reply::{Failed, Reply};
use crate::client::http::send::Parts;
use crate::client::http::shared::{Answer, Shared, closed};
use crate::client::http::{backoff, headers, message, older};
use crate::client::{ClientError, SessionRequest};

/// Sends a request of the modern era. All of it is in this future, so dropping that closes the stream.
pub(super) async fn modern(
    shared: &Arc<Shared>,
    request: &SessionRequest,
    revision: Revision,
) -> Answer {
    let response = shared.post(&shared.url, || {
        let headers = headers::of_request(request, revision)?;
        let body = message::request(request);
        Ok(Parts { headers, body })
    });
    let response = response.await?;
    let source = Source::Modern(request.id);
    match Reply::read(response, &shared.limits).await? {
        Reply::Events(body) => {
            let mut events = Events::new(body, shared.limits.message_bytes, Position::default());
            let answer = answer_in(shared, &mut events, source).await;
            match answer {
                Some(answer) => {
                    events.release();
                    answer
                }
                None => Err(broken_off()),
            }
        }
        other => whole(shared, other, source).await,
    }
}

/// Sends a request of the legacy era. Its answer may come on any stream, but seldom comes on another one than its own.
pub(super) async fn legacy(shared: &Arc<Shared>, request: &SessionRequest) -> Answer {
    if begins(request) {
        shared.begin_anew();
    }
    let standing = shared.standing(request.revision);
    let elsewhere = shared.wait_for(request.id);
    let mut open = Open {
        shared,
        id: request.id,
        runtime: Handle::current(),
        cancels: request.cancellable && !begins(request),
    };
    let answer = first(converse(shared, request, standing), async {
        elsewhere.await.unwrap_or_else(|_| Err(closed()))
    });
    let answer = answer.await;
    open.cancels = false;
    answer
}

fn begins(request: &SessionRequest) -> bool {
    request.method == "initialize"
}

/// A request that has no answer yet. Dropping it tells the server that nobody wants one any more.
struct Open<'a> {
    shared: &'a Arc<Shared>,
    id: i64,
    runtime: Handle,
    cancels: bool,
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.shared.forget(self.id);
        if self.cancels && !self.shared.is_closed() {
            let standing = self.shared.standing(None);
            let body = message::cancelled(self.id);
            self.shared.send_aside(&self.runtime, standing, body);
        }
    }
}

async fn converse(shared: &Arc<Shared>, request: &SessionRequest, standing: Standing) -> Answer {
    let failed = match post(shared, request, &standing).await {
        Ok(answer) => return answer,
        Err(failed) => failed,
    };
    if !begins(request) || !may_be_older(&failed) {
        return Err(shared.failure(failed, &standing));
    }
    let standing = older::begin(shared, standing, failed).await?;
    let posted = post(shared, request, &standing).await;
    posted.unwrap_or_else(|failed| Err(failed.into()))
}

/// Whether it may be a server of 2024-11-05 that has failed so: one that takes no messages here.
fn may_be_older(failed: &Failed) -> bool {
    const STATUSES: [StatusCode; 3] = [
        StatusCode::BAD_REQUEST,
        StatusCode::NOT_FOUND,
        StatusCode::METHOD_NOT_ALLOWED,
    ];
    failed.error.is_none() && STATUSES.contains(&failed.status)
}

async fn post(
    shared: &Arc<Shared>,
    request: &SessionRequest,
    standing: &Standing,
) -> Result<Answer, Failed> {
    let reply = match send(shared, request, standing).await {
        Ok(reply) => reply,
        Err(error) => return Ok(Err(error)),
    };
    match reply {
        Reply::Failed(failed) => Err(failed),
        Reply::Accepted if standing.is_older() => pending().await,
        Reply::Events(body) => Ok(follow(shared, body, request.id, standing).await),
        other => Ok(whole(shared, other, Source::Legacy(request.id)).await),
    }
}

async fn send(
    shared: &Arc<Shared>,
    request: &SessionRequest,
    standing: &Standing,
) -> Result<Reply, ClientError> {
    let to = standing.target(&shared.url)?;
    let response = shared.post(to, || {
        let (headers, body) = (standing.headers(), message::request(request));
        Ok(Parts { headers, body })
    });
    let response = response.await?;
    if standing.is_older() {
        let accepted = Reply::accepted(response).await;
        return Ok(accepted.map_or_else(Reply::Failed, |()| Reply::Accepted));
    }
    if begins(request) && response.status().is_success() {
        shared.note_session(standing.handshake, response.headers())?;
    }
    Reply::read(response, &shared.limits).await
}

/// The answer in a response that is no stream.
async fn whole(shared: &Arc<Shared>, reply: Reply, source: Source) -> Answer {
    match reply {
        Reply::Json(bytes) => {
            let answer = shared.hear(&bytes, source).await;
            answer
                .unwrap_or_else(|| Err(ClientError::protocol("a response answers something else")))
        }
        Reply::Failed(failed) => Err(failed.into()),
        Reply::Accepted | Reply::Events(_) => Err(ClientError::protocol(
            "a request was accepted without an answer",
        )),
    }
}

/// Reads a stream until the answer comes; `None` if it ends before.
async fn answer_in(shared: &Arc<Shared>, events: &mut Events, source: Source) -> Option<Answer> {
    loop {
        match events.next().await? {
            // Servers send such events only to tell their ids.
            Event::Message(data) if data.is_empty() => {}
            Event::Message(data) => {
                if let Some(answer) = shared.hear(&data, source).await {
                    return Some(answer);
                }
            }
            Event::Endpoint(_) | Event::Other(_) => {}
            Event::TooLong(_) => {
                let most = shared.limits.message_bytes;
                let why = format!("a message has more than {most} bytes");
                return Some(Err(ClientError::protocol(why)));
            }
        }
    }
}

/// Reads the stream of a request, and asks for the rest of it where it breaks off.
async fn follow(shared: &Arc<Shared>, body: Body, id: i64, standing: &Standing) -> Answer {
    let most = shared.limits.message_bytes;
    let mut events = Events::new(body, most, Position::default());
    let mut failures = 0;
    loop {
        let answer = answer_in(shared, &mut events, Source::Legacy(id)).await;
        if let Some(answer) = answer {
            events.release();
            return answer;
        }
        let mut position = events.into_position();
        if std::mem::take(&mut position.moved) {
            failures = 0;
        }
        let body = loop {
            failures += 1;
            if position.id.is_none() || failures > shared.limits.http.resume_attempts {
                return Err(broken_off());
            }
            sleep(backoff::delay(position.retry, failures)).await;
            if let Some(body) = resume(shared, &position, standing.handshake).await? {
                break body;
            }
        };
        events = Events::new(body, most, position);
    }
}

/// Asks for the rest of a stream; `None` if that may succeed another time.
async fn resume(
    shared: &Arc<Shared>,
    position: &Position,
    handshake: u64,
) -> Result<Option<Body>, ClientError> {
    let standing = shared.standing(None);
    if standing.handshake != handshake {
        return Err(broken_off());
    }
    match shared.get(&standing, position.id.as_ref()).await {
        Ok(Reply::Events(body)) => Ok(Some(body)),
        Ok(Reply::Failed(failed)) if may_pass(failed.status) => Ok(None),
        Ok(Reply::Failed(failed)) => Err(match shared.failure(failed, &standing) {
            ClientError::SessionExpired => ClientError::SessionExpired,
            _ => broken_off(),
        }),
        Ok(Reply::Json(_) | Reply::Accepted) => Err(broken_off()),
        Err(ClientError::Closed(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

fn broken_off() -> ClientError {
    ClientError::closed("the stream of the response has ended before the answer")
}

/// What is ready first.
async fn first<T>(one: impl Future<Output = T>, other: impl Future<Output = T>) -> T {
    let (mut one, mut other) = (pin!(one), pin!(other));
    poll_fn(|context| match one.as_mut().poll(context) {
        Poll::Pending => other.as_mut().poll(context),
        ready @ Poll::Ready(_) => ready,
    })
    .await
}
