//! Answers to the questions of servers of the legacy era.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;

use treenail_runtime::{AskError, Context, RpcError};
use treenail_schema::{InputRequest, error_code};

use crate::event::Question;

/// Answers a question of a server over a connection of the legacy era.
pub(crate) async fn answer_directly(context: Context, mut question: Question) {
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
        Some(answer) => respond(question, answer),
        None => question.discard(),
    }
}

/// Answers the question of a server of the legacy era.
pub(crate) fn respond(question: Question, answer: Result<Option<String>, AskError>) {
    let method = question.request.method();
    question.respond(match answer {
        Ok(Some(answer)) => Ok(answer),
        Ok(None) => Err(RpcError::new(
            error_code::METHOD_NOT_FOUND,
            format!("the client of this call does not support `{method}`"),
        )),
        Err(AskError::Refused(error)) => Err(error),
        Err(error) => Err(RpcError::internal(error.to_string())),
    });
}
