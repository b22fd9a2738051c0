//! One call of a tool with a policy.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::sync::{AcquireError, OwnedSemaphorePermit};
use tokio::time::{Sleep, sleep};

use crate::call::{Call, Turn};
use crate::owned_call::OwnedCall;
use crate::panic::catch;
use crate::policy::Limited;
use crate::respond::{Respond, Responding, ResultWriter};
use crate::tool::error::ToolError;
use crate::tool::reply::ToolReply;
use crate::tool::shape::Shape;
use crate::wire::RpcError;

/// A call that is not ready yet: it waits for its turn, or its function runs. Both count towards the timeout.
pub(crate) struct Guarded {
    tool: Arc<Limited>,
    stage: Stage,
    /// Set by the first poll after which the call is still not ready.
    timer: Option<Pin<Box<Sleep>>>,
}

enum Stage {
    Waiting {
        turn: Waiting,
        call: Box<OwnedCall>,
    },
    Running {
        responding: Responding,
        /// Kept until the function is over; one that blocks keeps it too.
        _turn: Option<Turn>,
    },
    Over,
}

type Waiting = Pin<Box<dyn Future<Output = Result<OwnedSemaphorePermit, AcquireError>> + Send>>;

impl Guarded {
    /// Runs the function if it is its turn.
    pub(crate) fn start(
        tool: &Arc<Limited>,
        call: &Call<'_>,
        result: &mut ResultWriter<'_>,
    ) -> Result<Option<Responding>, RpcError> {
        let stage = match &tool.turns {
            None => run(tool, call, result)?,
            Some((_, turns)) => match Arc::clone(turns).try_acquire_owned() {
                Ok(turn) => {
                    let turn = Arc::new(turn);
                    let turn = Some(&turn);
                    run(tool, &Call { turn, ..*call }, result)?
                }
                Err(_) => Stage::Waiting {
                    turn: Box::pin(Arc::clone(turns).acquire_owned()),
                    call: Box::new(OwnedCall::new(call)),
                },
            },
        };
        if let Stage::Over = stage {
            return Ok(None);
        }
        Ok(Some(Box::pin(Self {
            tool: Arc::clone(tool),
            stage,
            timer: None,
        })))
    }

    /// Goes on until it has to wait.
    fn poll_stage(
        &mut self,
        context: &mut Context<'_>,
        result: &mut ResultWriter<'_>,
    ) -> Poll<Result<(), RpcError>> {
        loop {
            match &mut self.stage {
                Stage::Waiting { turn, call } => {
                    // It is never closed.
                    let turn = ready!(turn.as_mut().poll(context)).ok().map(Arc::new);
                    self.stage = run(&self.tool, &call.borrow(turn.as_ref()), result)?;
                }
                Stage::Running { responding, .. } => {
                    let written = ready!(responding.as_mut().poll_respond(context, result));
                    self.stage = Stage::Over;
                    return Poll::Ready(written);
                }
                Stage::Over => return Poll::Ready(Ok(())),
            }
        }
    }

    /// Whether the call has taken `within` already, counted from the first time that it had to wait.
    fn poll_timeout(
        &mut self,
        within: Duration,
        context: &mut Context<'_>,
    ) -> Result<bool, RpcError> {
        if self.timer.is_none() {
            // The time has to be enabled in the runtime, or tokio panics.
            let timer = catch(|| Box::pin(sleep(within))).map_err(|message| {
                tracing::error!(message, "the timeout of a tool could not be set");
                RpcError::internal("the server cannot measure time")
            })?;
            self.timer = Some(timer);
        }
        Ok(self.is_late(context))
    }

    /// Whether the time is over, if it has begun.
    fn is_late(&mut self, context: &mut Context<'_>) -> bool {
        let timer = self.timer.as_mut();
        timer.is_some_and(|timer| timer.as_mut().poll(context).is_ready())
    }

    /// Gives the call up, and tells the model so.
    fn give_up(&mut self, within: Duration, result: &mut ResultWriter<'_>) {
        let name = &self.tool.name;
        let message = match (&self.stage, &self.tool.turns) {
            (Stage::Waiting { .. }, Some((calls, _))) => format!(
                "the tool `{name}` was not started within its limit of {within:?}: at most {calls} of its calls run at once"
            ),
            _ => format!(
                "the tool `{name}` did not finish within its limit of {within:?}; the call was given up"
            ),
        };
        // What the function holds is dropped now, and that is the user's code.
        if let Err(message) = catch(|| self.stage = Stage::Over) {
            tracing::error!(
                name = &**name,
                message,
                "a function panicked when it was given up"
            );
        }
        ToolReply::new(result, Shape::Nothing).failure(ToolError::new(message));
    }
}

/// Begins the function; what is left to run of it, if anything.
fn run(tool: &Limited, call: &Call<'_>, result: &mut ResultWriter<'_>) -> Result<Stage, RpcError> {
    let left = (tool.handler)(call, result)?;
    Ok(left.map_or(Stage::Over, |responding| Stage::Running {
        responding,
        _turn: call.turn.cloned(),
    }))
}

impl Respond for Guarded {
    fn poll_respond(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        result: &mut ResultWriter<'_>,
    ) -> Poll<Result<(), RpcError>> {
        // A call whose time is over is not started any more.
        let late = matches!(self.stage, Stage::Waiting { .. }) && self.is_late(context);
        if !late {
            if let Poll::Ready(written) = self.poll_stage(context, result) {
                return Poll::Ready(written);
            }
        }
        let Some(within) = self.tool.timeout else {
            return Poll::Pending;
        };
        if !late && !self.poll_timeout(within, context)? {
            return Poll::Pending;
        }
        self.give_up(within, result);
        Poll::Ready(Ok(()))
    }
}
