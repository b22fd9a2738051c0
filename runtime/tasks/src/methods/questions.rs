//! Questions of tasks as requests to clients of revision 2025-11-25, on the stream of `tasks/result`.

use std::collections::HashSet;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, PoisonError};
use std::task;

use serde_json::value::RawValue;
use serde_json::{Value, json};
use treenail_runtime::internal::task::ask_client;
use treenail_runtime::{AskError, Context, RpcError};
use treenail_schema::InputRequest;

use super::result::{RELATED_TASK, related};
use crate::engine::{Engine, Loaded, owner};
use crate::record::Answer;
use crate::store::TaskId;

/// Questions that one `tasks/result` has sent to its client.
pub(super) struct Questions {
    engine: Arc<Engine>,
    context: Context,
    /// Keys of the questions that were sent. None is sent twice.
    sent: HashSet<String>,
    open: Vec<Pin<Box<dyn Future<Output = ()> + Send>>>,
}

impl Questions {
    pub(super) fn new(engine: &Arc<Engine>, context: &Context) -> Self {
        Self {
            engine: Arc::clone(engine),
            context: context.clone(),
            sent: HashSet::new(),
            open: Vec::new(),
        }
    }

    /// Prepares the open questions of a task, unless another request carries them already.
    pub(super) fn ask(&mut self, task: &Loaded) {
        for (key, question) in &task.record.questions {
            let Some(request) = question.request.as_ref().filter(|_| question.is_open()) else {
                continue;
            };
            if self.sent.contains(key) {
                continue;
            }
            let Some(claim) = Claim::new(&self.engine, &task.key.id, key) else {
                continue;
            };
            self.sent.insert(key.clone());
            let Some(request) = with_related_task(request, task) else {
                tracing::error!(id = ?task.key.id, "a question of a task could not be sent");
                continue;
            };
            let asked = carry(self.context.clone(), request, claim);
            self.open.push(Box::pin(asked));
        }
    }

    /// Makes progress with the questions.
    pub(super) fn poll(&mut self, context: &mut task::Context<'_>) {
        self.open
            .retain_mut(|open| open.as_mut().poll(context).is_pending());
    }
}

/// Right to send a question, which one request of this process has.
struct Claim {
    engine: Arc<Engine>,
    question: (TaskId, String),
}

impl Claim {
    fn new(engine: &Arc<Engine>, id: &TaskId, key: &str) -> Option<Self> {
        let question = (id.clone(), key.to_owned());
        let mut carried = engine
            .carried
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        carried.insert(question.clone()).then(|| Self {
            engine: Arc::clone(engine),
            question,
        })
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let carried = self.engine.carried.lock();
        carried
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&self.question);
    }
}

/// Sends a question, and stores its answer.
async fn carry(context: Context, request: InputRequest, claim: Claim) {
    let (id, key) = (claim.question.0.as_str(), &claim.question.1);
    let answer = match ask_client(&context, &request).await {
        Ok(text) => match RawValue::from_string(text.into()) {
            Ok(value) => Answer::Value(value),
            Err(_) => return,
        },
        Err(AskError::Refused(error)) => Answer::Refused(error.into()),
        Err(error) => {
            tracing::debug!(%error, "a question of a task has no answer");
            return;
        }
    };
    let most = claim.engine.limits.journal_bytes;
    let edited = claim.engine.edit(id, owner(&context), |task| {
        let answered = task.record.answer(key, answer.clone());
        if answered && task.record.journal_bytes() > most {
            let error = RpcError::internal("the journal of the task is full");
            task.record.refuse_answer(key, error.into());
        }
        Ok(answered)
    });
    if let Err(error) = edited.await {
        tracing::warn!(%error, "the answer to a question of a task could not be stored");
    }
}

/// Adds the id of the task to the metadata of a question.
fn with_related_task(request: &RawValue, task: &Loaded) -> Option<InputRequest> {
    let mut request: Value = serde_json::from_str(request.get()).ok()?;
    let params = request.as_object_mut()?.entry("params");
    let params = params.or_insert_with(|| json!({})).as_object_mut()?;
    let meta = params.entry("_meta").or_insert_with(|| json!({}));
    meta.as_object_mut()?
        .insert(RELATED_TASK.to_owned(), related(task));
    serde_json::from_value(request).ok()
}
