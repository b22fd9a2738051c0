//! Task support that detaches calls when a test requests it, and records the messages of its tasks.

use std::collections::HashMap;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context as TaskContext, Poll, Waker};

use serde_json::value::RawValue;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use treenail::RpcError;
use treenail::extension::Extension;
use treenail::schema::TaskSupport;
use treenail_runtime::internal::task::{
    CallFacts, DetachableCall, DetachedRun, Handler, Journal, PendingResult, ResultFuture,
    ResultWriter, StoredCall, TaskTool, ToolFacts, write_created,
};

use super::link::{Asked, Link, Record};

pub(super) const EXTENSION: &str = "com.example/tasks";

/// Task of a detached call.
pub(super) struct Task {
    pub(super) stored: StoredCall,
    pub(super) journal: Journal,
    pub(super) link: Arc<Link>,
    pub(super) questions: mpsc::UnboundedReceiver<Asked>,
    pub(super) run: JoinHandle<Result<Box<RawValue>, RpcError>>,
}

/// Task support that detaches a pending call when the test requests it.
#[derive(Clone, Debug, Default)]
pub(super) struct Support(Arc<Mutex<Control>>);

#[derive(Debug, Default)]
struct Control {
    /// Set if calls are tasks from their start.
    at_once: bool,
    /// Set if a call is detached without a last poll.
    without_poll: bool,
    /// Senders to the tests that wait for the task of the next pending call.
    wanted: Vec<oneshot::Sender<Task>>,
    wakers: Vec<Waker>,
    /// The members `params.task` of the calls so far.
    requested: Vec<Option<String>>,
    calls: HashMap<String, usize>,
}

impl fmt::Debug for Task {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.stored.fmt(formatter)
    }
}

impl Support {
    /// Makes all calls tasks from their start.
    pub(super) fn at_once(self) -> Self {
        lock(&self.0).at_once = true;
        self
    }

    /// Detaches a pending call without polling it again.
    pub(super) fn without_poll(self) -> Self {
        lock(&self.0).without_poll = true;
        self
    }

    /// Detaches the next pending call.
    pub(super) fn detach(&self) -> impl Future<Output = Task> + use<> {
        let (wanted, task) = oneshot::channel();
        let mut control = lock(&self.0);
        control.wanted.push(wanted);
        control.wakers.drain(..).for_each(Waker::wake);
        async { task.await.unwrap() }
    }

    /// Returns the members `params.task` of the calls so far.
    pub(super) fn requested(&self) -> Vec<Option<String>> {
        lock(&self.0).requested.clone()
    }

    /// Returns the number of calls of a tool.
    pub(super) fn calls(&self, tool: &str) -> usize {
        lock(&self.0).calls.get(tool).copied().unwrap_or_default()
    }
}

impl TaskTool for Support {
    fn support(&self) -> TaskSupport {
        TaskSupport::Optional
    }

    fn extension(&self) -> Extension {
        Extension::new(EXTENSION)
    }

    fn wrap(&self, tool: &ToolFacts, handler: Handler) -> Handler {
        let (support, tool, handler) = (self.clone(), tool.clone(), Arc::new(handler));
        Box::new(move |call, result| {
            let mut control = lock(&support.0);
            let task = CallFacts::of(call).requested_task()?;
            control.requested.push(task.map(str::to_owned));
            *control.calls.entry(tool.name.to_string()).or_default() += 1;
            let at_once = control.at_once.then(|| control.wanted.pop()).flatten();
            drop(control);
            let is_modern = CallFacts::of(call).revision.is_modern();
            let detachable = DetachableCall::new(call, &tool);
            if let Some(wanted) = at_once {
                let handler = Arc::clone(&handler);
                detach(wanted, detachable, move |call| call.start(handler));
                return answer(result, is_modern).map(|()| None);
            }
            let pending = handler(&detachable.call(), result)?;
            Ok(pending.map(|pending| {
                PendingResult::new(Box::pin(Waiting {
                    support: support.clone(),
                    is_modern,
                    call: Some((detachable, pending)),
                }))
            }))
        })
    }
}

/// Pending call that can be detached.
struct Waiting {
    support: Support,
    is_modern: bool,
    call: Option<(DetachableCall, PendingResult)>,
}

impl ResultFuture for Waiting {
    fn poll_result(
        mut self: Pin<&mut Self>,
        context: &mut TaskContext<'_>,
        result: &mut ResultWriter<'_>,
    ) -> Poll<Result<(), RpcError>> {
        let control = lock(&self.support.0);
        let is_polled = control.wanted.is_empty() || !control.without_poll;
        drop(control);
        let Some((_, pending)) = &mut self.call else {
            return Poll::Pending;
        };
        if is_polled {
            if let Poll::Ready(written) = pending.poll_result(context, result) {
                return Poll::Ready(written);
            }
        }
        let mut control = lock(&self.support.0);
        let Some(wanted) = control.wanted.pop() else {
            control.wakers.push(context.waker().clone());
            return Poll::Pending;
        };
        drop(control);
        if let Some((call, pending)) = self.call.take() {
            detach(wanted, call, |call| call.run(pending));
        }
        Poll::Ready(answer(result, self.is_modern))
    }
}

fn detach(
    wanted: oneshot::Sender<Task>,
    call: DetachableCall,
    run: impl FnOnce(DetachableCall) -> DetachedRun,
) {
    let (link, questions) = Link::new(Record::default());
    let journal = call.journal();
    call.detach(|_| Arc::clone(&link) as _);
    let task = Task {
        stored: call.stored(),
        journal,
        link,
        questions,
        run: tokio::spawn(run(call)),
    };
    wanted.send(task).unwrap();
}

/// The result of a request that has become a task.
pub(super) const CREATED: &str = r#"{"resultType":"task","taskId":"1","ttlMs":null}"#;

fn answer(result: &mut ResultWriter<'_>, is_modern: bool) -> Result<(), RpcError> {
    let created = if is_modern {
        CREATED
    } else {
        r#"{"task":{"taskId":"1"}}"#
    };
    write_created(result, created)
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
