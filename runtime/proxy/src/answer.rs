//! Answers to the questions of servers of the legacy era.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;

use treenail_runtime::internal::downgrade_sampling_result;
use treenail_runtime::{AskError, Context, RpcError};
use treenail_schema::{CreateMessageResult, InputRequest, Revision, error_code};

use crate::event::Question;

/// Answers a question of a server of this revision over a connection of the legacy era.
pub(crate) async fn answer_directly(context: Context, mut question: Question, revision: Revision) {
    let mut cancelled = question.take_cancelled();
    let answer = {
        let mut answer = pin!(async {
            context
                .forward(InputRequest::clone(&question.request))
                .if_supported()
                .await
        });
        let mut may_be_cancelled = true;
        poll_fn(|task| {
            if let Poll::Ready(answer) = answer.as_mut().poll(task) {
                return Poll::Ready(Some(answer));
            }
            if may_be_cancelled {
                match Pin::new(&mut cancelled).poll(task) {
                    Poll::Ready(Ok(())) => return Poll::Ready(None),
                    // The sender is gone. A receiver is not polled again after that.
                    Poll::Ready(Err(_)) => may_be_cancelled = false,
                    Poll::Pending => {}
                }
            }
            Poll::Pending
        })
        .await
    };
    match answer {
        Some(answer) => respond(question, answer, revision),
        None => question.discard(),
    }
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
