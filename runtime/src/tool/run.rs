//! How the function of a tool runs: what it does not survive, how it writes its output, and where it may block.

use std::future::Future;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{self, Poll};

use pin_project_lite::pin_project;
use tokio::sync::Semaphore;
use treenail_schema::SchemaObject;

use crate::call::Lifetime;
use crate::respond::{Respond, ResultWriter, catch};
use crate::tool::error::ToolError;
use crate::tool::output::{Output, Shape};
use crate::tool::problem::{Problem, report};
use crate::tool::reply::ToolReply;
use crate::wire::RpcError;

/// What a call needs to know of its tool.
#[derive(Debug)]
pub(crate) struct ToolFacts {
    pub(crate) name: String,
    pub(crate) input_schema: SchemaObject,
    pub(crate) shape: Shape,
}

impl ToolFacts {
    /// Runs a part of the tool; if it panics, the result is a failure, and `None` is returned.
    pub(crate) fn guard<'o, T>(
        &self,
        result: &mut ResultWriter<'o>,
        run: impl FnOnce(&mut ToolReply<'_, 'o>) -> T,
    ) -> Option<T> {
        let start = result.mark();
        let mut reply = ToolReply::new(result, self.shape);
        match catch(|| run(&mut reply)) {
            Ok(value) => Some(value),
            Err(message) => {
                let name = &self.name;
                tracing::error!(tool = %name, message, "a tool panicked");
                result.rewind(start);
                let message =
                    format!("the tool `{name}` failed unexpectedly; this is a bug in the server");
                ToolReply::new(result, self.shape).failure(ToolError::new(message));
                None
            }
        }
    }

    /// Writes what is wrong with the arguments as the result.
    pub(crate) fn reject(&self, problems: &[Problem], reply: &mut ToolReply<'_, '_>) {
        reply.failure(ToolError::new(report(
            &self.name,
            problems,
            &self.input_schema,
        )));
    }
}

pin_project! {
    /// The future of a tool's function, and how its output is written.
    pub(crate) struct Running<F, T> {
        #[pin]
        future: F,
        output: Output<T>,
        facts: Arc<ToolFacts>,
        lifetime: Option<Lifetime>,
    }
}

impl<F, T> Running<F, T> {
    pub(crate) fn new(
        future: F,
        output: Output<T>,
        facts: &Arc<ToolFacts>,
        lifetime: Lifetime,
    ) -> Self {
        let (facts, lifetime) = (Arc::clone(facts), Some(lifetime));
        Self {
            future,
            output,
            facts,
            lifetime,
        }
    }
}

impl<F: Future<Output = T> + Send, T> Respond for Running<F, T> {
    fn poll_respond(
        self: Pin<&mut Self>,
        context: &mut task::Context<'_>,
        result: &mut ResultWriter<'_>,
    ) -> Poll<Result<(), RpcError>> {
        let this = self.project();
        let polled = this.facts.guard(result, |reply| {
            this.future.poll(context).map(|value| {
                // Nothing may be sent for the call after its answer, so it ends before that is written.
                *this.lifetime = None;
                this.output.write(value, reply);
            })
        });
        polled.unwrap_or(Poll::Ready(())).map(Ok)
    }
}

/// Runs `work` on a thread for blocking work, when one of `turns` is free; its panic becomes a panic of the call.
///
/// Work that has begun cannot be stopped: when the call is cancelled, it runs on, keeps its turn until it ends, and its
/// output is dropped.
pub(crate) async fn blocking<T: Send + 'static>(
    turns: Arc<Semaphore>,
    work: impl FnOnce() -> T + Send + 'static,
) -> T {
    let turn = turns.acquire_owned().await.ok();
    let work = tokio::task::spawn_blocking(move || {
        let _turn = turn;
        work()
    });
    match work.await {
        Ok(value) => value,
        Err(error) => resume_unwind(match error.try_into_panic() {
            Ok(panic) => panic,
            Err(_) => Box::new("the runtime is shutting down"),
        }),
    }
}
