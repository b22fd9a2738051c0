//! Answers to the questions of servers of the legacy era.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use treenail_runtime::internal::downgrade_sampling_result;
use treenail_runtime::{AskError, Context, RpcError};
use treenail_schema::{CreateMessageResult, InputRequest, Revision, error_code};

use crate::event::Question;

/// Answers a question of a server of this revision over a connection of the legacy era.
pub(crate) async fn answer_directly(context: Context, mut question: Question, revision: Revision) {
    let request = InputRequest::clone(&question.request);
    let asked = async { context.forward(request).if_supported().await };
    match unless_cancelled(&mut question, asked).await {
        Some(answer) => respond(question, answer, revision),
        None => question.discard(),
    }
}

/// Waits for the answer to a question; `None` if the server cancels the question, before or meanwhile.
pub(crate) async fn unless_cancelled<T>(
    question: &mut Question,
    answer: impl Future<Output = T>,
) -> Option<T> {
    let mut answer = pin!(answer);
    poll_fn(|task| {
        if question.poll_cancelled(task).is_ready() {
            return Poll::Ready(None);
        }
        answer.as_mut().poll(task).map(Some)
    })
    .await
}

/// Answers the question of a server of this revision of the legacy era.
pub(crate) fn respond(
    question: Question,
    answer: Result<Option<String>, AskError>,
    revision: Revision,
) {
    let method = question.request.method();
    let is_sampling = matches!(*question.request, InputRequest::CreateMessage(_));
    question.respond(match answer {
        Ok(Some(answer)) if is_sampling && revision < Revision::V2025_11_25 => {
            downgrade_sampling(&answer, revision)
        }
        Ok(Some(answer)) => Ok(answer),
        Ok(None) => Err(RpcError::new(
            error_code::METHOD_NOT_FOUND,
            format!("the client of this call does not support `{method}`"),
        )),
        Err(AskError::Refused(error)) => Err(error),
        Err(error) => Err(RpcError::internal(error.to_string())),
    });
}

/// Converts the answer to a sampling request for a server of an older revision.
fn downgrade_sampling(answer: &str, revision: Revision) -> Result<String, RpcError> {
    let internal = |error: serde_json::Error| RpcError::internal(error.to_string());
    let result: CreateMessageResult = serde_json::from_str(answer).map_err(internal)?;
    let result = downgrade_sampling_result(result, revision)?;
    serde_json::to_string(&result).map_err(internal)
}
