//! One call of a tool with a policy.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::sync::{AcquireError, OwnedSemaphorePermit};
use tokio::time::{Sleep, sleep};

use crate::call::{Call, OwnedCall, Permit};
use crate::deadline;
use crate::handler::{PendingResult, ResultFuture};
use crate::panic::catch;
use crate::policy::LimitedTool;
use crate::result_writer::ResultWriter;
use crate::tool::error::ToolError;
use crate::tool::reply::ToolResultWriter;
use crate::tool::shape::Shape;
use crate::wire::RpcError;

/// A call that is not ready yet: it waits for a permit, or its function runs. Both count towards the timeout.
pub(crate) struct LimitedCall {
    tool: Arc<LimitedTool>,
    stage: Stage,
    /// Set by the first poll after which the call is still not ready.
    timer: Option<Pin<Box<Sleep>>>,
}

enum Stage {
    Waiting {
        permit: PendingPermit,
        call: Box<OwnedCall>,
    },
    Running {
        pending: PendingResult,
        /// Held until the function has finished. A blocking function holds it too.
        _permit: Option<Permit>,
    },
    Finished,
}

type PendingPermit =
    Pin<Box<dyn Future<Output = Result<OwnedSemaphorePermit, AcquireError>> + Send>>;

impl LimitedCall {
    /// Runs the function if a permit is free.
    pub(crate) fn start(
        tool: &Arc<LimitedTool>,
        call: &Call<'_>,
        result: &mut ResultWriter<'_>,
    ) -> Result<Option<PendingResult>, RpcError> {
        let stage = match &tool.permits {
            None => run(tool, call, result)?,
            Some((_, permits)) => match Arc::clone(permits).try_acquire_owned() {
                Ok(permit) => {
                    let permit = Arc::new(permit);
                    let permit = Some(&permit);
                    run(tool, &Call { permit, ..*call }, result)?
                }
                Err(_) => Stage::Waiting {
                    permit: Box::pin(Arc::clone(permits).acquire_owned()),
                    call: Box::new(OwnedCall::new(call)),
                },
            },
        };
        if let Stage::Finished = stage {
            return Ok(None);
        }
        Ok(Some(PendingResult::new(Box::pin(Self {
            tool: Arc::clone(tool),
            stage,
            timer: None,
        }))))
    }

    /// Polls the call until it is pending.
    fn poll_stage(
        &mut self,
        context: &mut Context<'_>,
        result: &mut ResultWriter<'_>,
    ) -> Poll<Result<(), RpcError>> {
        loop {
            match &mut self.stage {
                Stage::Waiting { permit, call } => {
                    // The semaphore is never closed.
                    let permit = ready!(permit.as_mut().poll(context)).ok().map(Arc::new);
                    self.stage = run(&self.tool, &call.borrow(permit.as_ref()), result)?;
                }
                Stage::Running { pending, .. } => {
                    let written = ready!(pending.poll_result(context, result));
                    self.stage = Stage::Finished;
                    return Poll::Ready(written);
                }
                Stage::Finished => return Poll::Ready(Ok(())),
            }
        }
    }

    /// Returns `true` if the call has taken `timeout`, counted from the first time that it was pending.
    fn poll_timeout(
        &mut self,
        timeout: Duration,
        context: &mut Context<'_>,
    ) -> Result<bool, RpcError> {
        if self.timer.is_none() {
            // tokio panics if the runtime has no timer.
            let timer = catch(|| Box::pin(sleep(timeout))).map_err(|message| {
                tracing::error!(message, "the timeout of a tool could not be set");
                RpcError::internal("the server cannot measure time")
            })?;
            self.timer = Some(timer);
        }
        Ok(self.is_late(context))
    }

    /// Returns `true` if a timer is set and has expired.
    fn is_late(&mut self, context: &mut Context<'_>) -> bool {
        let timer = self.timer.as_mut();
        timer.is_some_and(|timer| deadline::poll_timer(timer.as_mut(), context).is_ready())
    }

    /// Drops the call and writes a failure for the model.
    fn give_up(&mut self, timeout: Duration, result: &mut ResultWriter<'_>) {
        let name = &self.tool.name;
        let message = match (&self.stage, &self.tool.permits) {
            (Stage::Waiting { .. }, Some((calls, _))) => format!(
                "the tool `{name}` was not started within its limit of {timeout:?}: at most {calls} of its calls run at once"
            ),
            _ => format!(
                "the tool `{name}` did not finish within its limit of {timeout:?}; the call was given up"
            ),
        };
        self.stage = Stage::Finished;
        ToolResultWriter::new(result, Shape::Nothing).failure(ToolError::new(message));
    }
}

/// Starts the function.
fn run(
    tool: &LimitedTool,
    call: &Call<'_>,
    result: &mut ResultWriter<'_>,
) -> Result<Stage, RpcError> {
    let left = (tool.handler)(call, result)?;
    Ok(left.map_or(Stage::Finished, |pending| Stage::Running {
        pending,
        _permit: call.permit.cloned(),
    }))
}

impl ResultFuture for LimitedCall {
    fn poll_result(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        result: &mut ResultWriter<'_>,
    ) -> Poll<Result<(), RpcError>> {
        // A call is not started after its timeout.
        let late = matches!(self.stage, Stage::Waiting { .. }) && self.is_late(context);
        if !late {
            if let Poll::Ready(written) = self.poll_stage(context, result) {
                return Poll::Ready(written);
            }
        }
        let Some(timeout) = self.tool.timeout else {
            return Poll::Pending;
        };
        if !late && !self.poll_timeout(timeout, context)? {
            return Poll::Pending;
        }
        self.give_up(timeout, result);
        Poll::Ready(Ok(()))
    }
}
