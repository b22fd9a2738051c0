//! Questions of tasks as requests to clients of revision 2025-11-25: on the stream of `tasks/result`, or on one that outlives
//! calls, for clients that only poll.

use std::collections::HashSet;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{self, Poll};

use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::time::sleep;
use treenail_runtime::internal::deadline;
use treenail_runtime::internal::task::{
    SessionPeer, ask_client, for_client, random_id, session_number,
};
use treenail_runtime::{AskError, Context, RpcError};
use treenail_schema::{ElicitRequestParams, InputRequest, error_code};

use super::claim::Claim;
use super::result::{RELATED_TASK, related};
use crate::engine::{Engine, Loaded, owner};
use crate::record::{Answer, Question};
use crate::run::StoreRetry;

/// Questions that one `tasks/result` has sent to its client.
pub(super) struct Questions {
    engine: Arc<Engine>,
    context: Context,
    /// Keys of the questions that the client has, or has answered. None of them is sent again.
    sent: HashSet<String>,
    /// Keys of the questions that another session has taken over, or whose time was over. They are sent again if no session has
    /// them.
    lost: HashSet<String>,
    open: Vec<Pin<Box<dyn Future<Output = End> + Send>>>,
}

/// End of a question that a client was sent.
enum End {
    /// The answer is stored, or there will be none.
    Final,
    /// Another session has taken the question over, or the client has not answered in time.
    Lost(String),
    /// The store was away for too long.
    NotStored(String),
}

impl Questions {
    pub(super) fn new(engine: &Arc<Engine>, context: &Context) -> Self {
        Self {
            engine: Arc::clone(engine),
            context: context.clone(),
            sent: HashSet::new(),
            lost: HashSet::new(),
            open: Vec::new(),
        }
    }

    /// Prepares the open questions of a task that the client can answer, unless the session has them already.
    pub(super) fn ask(&mut self, task: &Loaded) {
        let session = session_number(&self.context);
        for (key, request) in open_questions(task, &self.context) {
            if self.sent.contains(key) {
                continue;
            }
            // Two sessions must not take a question from each other again and again.
            let claim = if self.lost.contains(key) {
                Claim::of_free
            } else {
                Claim::take
            };
            let Some(claim) = claim(&self.engine, &task.key.id, key, session) else {
                continue;
            };
            self.sent.insert(key.to_owned());
            self.open
                .push(Box::pin(carry(self.context.clone(), claim, request)));
        }
    }

    /// Makes progress with the questions.
    pub(super) fn poll(&mut self, context: &mut task::Context<'_>) {
        let Self {
            sent, lost, open, ..
        } = self;
        open.retain_mut(|open| {
            let Poll::Ready(end) = open.as_mut().poll(context) else {
                return true;
            };
            match end {
                End::Final => {}
                End::Lost(key) => {
                    sent.remove(&key);
                    lost.insert(key);
                }
                End::NotStored(key) => {
                    sent.remove(&key);
                }
            }
            false
        });
    }
}

/// Sends a question to the client of a request, and stores the answer.
async fn carry(context: Context, claim: Claim, request: InputRequest) -> End {
    let key = claim.key().to_owned();
    let answer = match until(ask_client(&context, &request), claim.lost()).await {
        None | Some(Err(AskError::TimedOut)) => return End::Lost(key),
        Some(answer) => answer,
    };
    // An answer is stored even if the request ends meanwhile.
    let stored = tokio::spawn(async move { store(&claim, owner(&context), answer).await });
    match stored.await {
        Ok(false) => End::NotStored(key),
        // An error is the end of the tokio runtime.
        Ok(true) | Err(_) => End::Final,
    }
}

/// Sends the open questions of a task to a client that polls it and can answer them, if its session has a stream for them, and no
/// session has them.
pub(super) async fn offer(
    engine: &Arc<Engine>,
    context: &Context,
    id: &str,
) -> Result<(), RpcError> {
    let task = &engine.load(id, owner(context)).await?;
    let session = session_number(context);
    for (key, request) in open_questions(task, context) {
        let Some(peer) = SessionPeer::of(context) else {
            continue;
        };
        let Some(claim) = Claim::of_free(engine, &task.key.id, key, session) else {
            continue;
        };
        let context = context.clone();
        tokio::spawn(async move {
            let over = async {
                until(closed(&claim, owner(&context)), claim.lost()).await;
            };
            if let Some(answer) = until(peer.ask(&request), over).await {
                store(&claim, owner(&context), answer).await;
            }
        });
    }
    Ok(())
}

/// Returns the open questions that the client of a call can answer with their keys, as requests with the id of the task.
fn open_questions<'a>(
    task: &'a Loaded,
    context: &'a Context,
) -> impl Iterator<Item = (&'a str, InputRequest)> {
    let open = task.record.questions.iter();
    let open = open.filter(|(_, question)| question.is_open());
    open.filter_map(|(key, question)| {
        let request = with_related_task(question.request.as_deref()?, task);
        if request.is_none() {
            tracing::error!(id = ?task.key.id, "a question of a task could not be sent");
        }
        let request = for_client(context, request?)?;
        Some((key.as_str(), request))
    })
}

/// Waits for the first future, unless the second one ends before.
pub(super) async fn until<T>(
    first: impl Future<Output = T>,
    end: impl Future<Output = ()>,
) -> Option<T> {
    let (mut first, mut end) = (pin!(first), pin!(end));
    poll_fn(|context| match first.as_mut().poll(context) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending => end.as_mut().poll(context).map(|()| None),
    })
    .await
}

/// Waits until a question is no longer open, for example because its task was cancelled.
async fn closed(claim: &Claim, owner: &str) {
    let engine = &claim.engine;
    loop {
        sleep(engine.limits.watch_interval).await;
        let task = match engine.load(claim.task().as_str(), owner).await {
            Ok(task) => task,
            Err(error) if error.code == error_code::INVALID_PARAMS => return, // deleted
            Err(_) => continue,
        };
        let question = task.record.questions.get(claim.key());
        if !question.is_some_and(Question::is_open) {
            return;
        }
    }
}

/// Stores the answer to a question, and tries again while the store fails, for the time of a lease. Returns `false` if it was not
/// stored.
async fn store(claim: &Claim, owner: &str, answer: Result<Box<str>, AskError>) -> bool {
    let Some(answer) = read(answer) else {
        return true;
    };
    let end = deadline::after(claim.engine.limits.lease);
    let mut retry = StoreRetry::default();
    loop {
        let error = match store_once(claim, owner, &answer).await {
            Err(error) if error.code != error_code::INVALID_PARAMS => error,
            // Otherwise the task was deleted.
            _ => return true,
        };
        let Some(delay) = retry.next_delay(end) else {
            tracing::error!(%error, "the answer to a question of a task could not be stored");
            return false;
        };
        tracing::warn!(%error, "the answer to a question of a task could not be stored; trying again");
        sleep(delay).await;
    }
}

/// Returns the answer that is stored, if there is one.
fn read(answer: Result<Box<str>, AskError>) -> Option<Answer> {
    match answer {
        Ok(text) => RawValue::from_string(text.into()).ok().map(Answer::Value),
        Err(AskError::Refused(error)) => Some(Answer::Refused(error.into())),
        Err(error) => {
            tracing::debug!(%error, "a question of a task has no answer");
            None
        }
    }
}

async fn store_once(claim: &Claim, owner: &str, answer: &Answer) -> Result<(), RpcError> {
    let most = claim.engine.limits.journal_bytes;
    let edited = claim.engine.edit(claim.task().as_str(), owner, |task| {
        let answered = task.record.answer(claim.key(), answer.clone());
        if answered && task.record.journal_bytes() > most {
            let error = RpcError::internal("the journal of the task is full");
            task.record.refuse_answer(claim.key(), error.into());
        }
        Ok(answered)
    });
    edited.await.map(drop)
}

/// Adds the id of the task to the metadata of a question.
fn with_related_task(request: &RawValue, task: &Loaded) -> Option<InputRequest> {
    let mut request: Value = serde_json::from_str(request.get()).ok()?;
    let params = request.as_object_mut()?.entry("params");
    let params = params.or_insert_with(|| json!({})).as_object_mut()?;
    let meta = params.entry("_meta").or_insert_with(|| json!({}));
    meta.as_object_mut()?
        .insert(RELATED_TASK.to_owned(), related(task));
    let mut request = serde_json::from_value(request).ok()?;
    if let InputRequest::Elicit(ElicitRequestParams::Url(page)) = &mut request {
        if page.elicitation_id.is_none() {
            // The task was created by a client of 2026-07-28, which has no such id.
            page.elicitation_id = random_id().ok();
        }
    }
    Some(request)
}
