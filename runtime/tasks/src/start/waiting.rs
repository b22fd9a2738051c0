//! Futures of calls that become tasks.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Sleep, sleep};
use treenail_runtime::RpcError;
use treenail_runtime::internal::deadline::poll_timer;
use treenail_runtime::internal::spawn_lasting;
use treenail_runtime::internal::task::{
    DetachableCall, DetachedRun, Handler, PendingResult, ResultFuture, ResultWriter, write_created,
};

use super::creation::{Admitted, NewTask, insert, remove};
use crate::engine::not_written;
use crate::record::{Form, view_text};
use crate::run::{Run, drive};

type BoxedFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Call that becomes a task if it is not ready in time.
pub(super) struct Waiting {
    stage: Stage,
    task: Option<NewTask>,
    call: Option<DetachableCall>,
    pending: Option<PendingResult>,
}

enum Stage {
    /// The call may return in time.
    InTime(Pin<Box<Sleep>>),
    /// The limits are checked.
    Checking(BoxedFuture<Result<Admitted, RpcError>>),
    /// The record is stored.
    Creating(Creating),
    /// The call remains a plain one.
    Plain,
}

impl Waiting {
    pub(super) fn new(
        task: NewTask,
        call: DetachableCall,
        pending: PendingResult,
        after: Duration,
    ) -> Self {
        Self {
            stage: Stage::InTime(Box::pin(sleep(after))),
            task: Some(task),
            call: Some(call),
            pending: Some(pending),
        }
    }

    /// Makes progress with the creation of the task. Returns its run once it has been created.
    fn poll_task(&mut self, context: &mut Context<'_>) -> Poll<Arc<Run>> {
        loop {
            match &mut self.stage {
                Stage::InTime(sleep) => {
                    if poll_timer(sleep.as_mut(), context).is_pending() {
                        return Poll::Pending;
                    }
                    let (Some(task), Some(call)) = (self.task.take(), &self.call) else {
                        return Poll::Pending;
                    };
                    self.stage = Stage::Checking(Box::pin(task.admit(call.stored())));
                }
                Stage::Checking(check) => match check.as_mut().poll(context) {
                    Poll::Ready(Ok(admitted)) => self.create(admitted),
                    Poll::Ready(Err(error)) => self.stay_plain(&error),
                    Poll::Pending => return Poll::Pending,
                },
                Stage::Creating(creating) => match creating.poll(context) {
                    Poll::Ready(Ok(run)) => return Poll::Ready(run),
                    Poll::Ready(Err(error)) => self.stay_plain(&error),
                    Poll::Pending => return Poll::Pending,
                },
                Stage::Plain => return Poll::Pending,
            }
        }
    }

    /// Detaches the call, and starts to store its record.
    fn create(&mut self, admitted: Admitted) {
        let Some(call) = &self.call else {
            return;
        };
        match admitted.prepare() {
            Ok((run, creation)) => {
                call.detach(|journal| {
                    run.set_journal(journal);
                    Arc::clone(&run) as _
                });
                run.set_progress();
                self.stage = Stage::Creating(Creating(Some(Box::pin(insert(run, creation)))));
            }
            Err(error) => self.stay_plain(&error),
        }
    }

    fn stay_plain(&mut self, error: &RpcError) {
        tracing::debug!(%error, "a call did not become a task, and continues as a plain one");
        self.stage = Stage::Plain;
    }
}

impl ResultFuture for Waiting {
    fn poll_result(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        result: &mut ResultWriter<'_>,
    ) -> Poll<Result<(), RpcError>> {
        if let Some(pending) = &mut self.pending {
            if let Poll::Ready(written) = pending.poll_result(context, result) {
                // The plain result wins; a record that is being stored is removed.
                self.stage = Stage::Plain;
                return Poll::Ready(written);
            }
        }
        let Poll::Ready(run) = self.poll_task(context) else {
            return Poll::Pending;
        };
        let (Some(call), Some(pending)) = (self.call.take(), self.pending.take()) else {
            return Poll::Pending;
        };
        let answered = write_task(&run, true, result);
        hand_over(run, call.run(pending));
        Poll::Ready(answered)
    }
}

/// Call that is a task from its start.
pub(super) struct Detached {
    creating: Creating,
    /// Set until the call starts.
    start: Option<(DetachableCall, Arc<Handler>)>,
    form: TaskForm,
    /// The plain call, if the task could not be created.
    plain: Option<PendingResult>,
}

/// Kind of a task that is one from its start.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum TaskForm {
    /// Of revision 2025-11-25: the client has asked for it.
    Older,
    /// The server has decided for it. If it cannot be created, the call is a plain one.
    Modern,
    /// A token completes it.
    External,
}

impl Detached {
    pub(super) fn start(
        task: NewTask,
        call: DetachableCall,
        handler: Arc<Handler>,
        form: TaskForm,
    ) -> Self {
        // The function starts after this. An earlier round of the call may have been a plain one.
        let (stored, journal) = (call.stored(), call.journal());
        let creating = async move {
            let (run, creation) = task.admit(stored).await?.prepare()?;
            run.set_journal(journal);
            insert(run, creation).await
        };
        Self {
            creating: Creating(Some(Box::pin(creating))),
            start: Some((call, handler)),
            form,
            plain: None,
        }
    }
}

impl Detached {
    /// Runs the call as a plain one.
    fn start_plain(
        &mut self,
        context: &mut Context<'_>,
        result: &mut ResultWriter<'_>,
    ) -> Poll<Result<(), RpcError>> {
        let Some((call, handler)) = self.start.take() else {
            return Poll::Pending;
        };
        match handler(&call.call(), result) {
            Ok(None) => Poll::Ready(Ok(())),
            Ok(Some(pending)) => {
                let plain = self.plain.insert(pending);
                plain.poll_result(context, result)
            }
            Err(error) => Poll::Ready(Err(error)),
        }
    }
}

impl ResultFuture for Detached {
    fn poll_result(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        result: &mut ResultWriter<'_>,
    ) -> Poll<Result<(), RpcError>> {
        if let Some(plain) = &mut self.plain {
            return plain.poll_result(context, result);
        }
        let run = match self.creating.poll(context) {
            Poll::Ready(Ok(run)) => run,
            Poll::Ready(Err(error)) if self.form == TaskForm::Modern => {
                tracing::debug!(%error, "a call did not become a task, and runs as a plain one");
                return self.start_plain(context, result);
            }
            Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
            Poll::Pending => return Poll::Pending,
        };
        let Some((call, handler)) = self.start.take() else {
            return Poll::Pending;
        };
        call.detach(|_| Arc::clone(&run) as _);
        let answered = write_task(&run, self.form != TaskForm::Older, result);
        hand_over(run, call.start(handler));
        Poll::Ready(answered)
    }
}

/// Record that is being stored. If this is dropped, the record is removed.
struct Creating(Option<BoxedFuture<Result<Arc<Run>, RpcError>>>);

impl Creating {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<Arc<Run>, RpcError>> {
        let Some(creating) = &mut self.0 else {
            return Poll::Pending;
        };
        let polled = creating.as_mut().poll(context);
        if polled.is_ready() {
            self.0 = None;
        }
        polled
    }
}

impl Drop for Creating {
    fn drop(&mut self) {
        let Some(creating) = self.0.take() else {
            return;
        };
        // Without a runtime, the process ends.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                if let Ok(run) = creating.await {
                    remove(run).await;
                }
            });
        }
    }
}

/// Passes a call on to its task.
fn hand_over(run: Arc<Run>, work: DetachedRun) {
    spawn_lasting(drive(run, Box::pin(work)));
}

/// Writes the answer to a request that has become a task.
fn write_task(run: &Run, modern: bool, result: &mut ResultWriter<'_>) -> Result<(), RpcError> {
    let state = run.record().state(&run.key).map_err(not_written)?;
    if modern {
        let text = view_text(None, &state, Form::Created).map_err(not_written)?;
        return write_created(result, &text);
    }
    let text = view_text(None, &state, Form::Older).map_err(not_written)?;
    write_created(result, &format!(r#"{{"task":{text}}}"#))
}
