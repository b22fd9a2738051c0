//! The result of one request: written in place, or later by a future.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{self, Poll};

use serde::Serialize;
use treenail_schema::{InputRequiredResult, ResultMetaObject};

use crate::call::Call;
use crate::revision::{ResultFormat, mark_wrapped};
use crate::wire::RpcError;

/// What answers the requests for one tool, prompt or resource, with its types behind it.
///
/// Either it writes the result, or it returns what is left to run.
pub(crate) type Handler = Box<
    dyn Fn(&Call<'_>, &mut ResultWriter<'_>) -> Result<Option<Responding>, RpcError> + Send + Sync,
>;

/// A request that is not ready yet.
pub(crate) type Responding = Pin<Box<dyn Respond>>;

/// A future that writes its output as the result of a request.
pub(crate) trait Respond: Send {
    /// Goes on with the request; the result is written when it is ready.
    fn poll_respond(
        self: Pin<&mut Self>,
        context: &mut task::Context<'_>,
        result: &mut ResultWriter<'_>,
    ) -> Poll<Result<(), RpcError>>;
}

/// Writes the result of one request in the style of the revision that its caller speaks.
pub struct ResultWriter<'a> {
    out: &'a mut Vec<u8>,
    style: &'a ResultFormat,
    /// What has been written tells of a failure.
    failed: bool,
}

impl fmt::Debug for ResultWriter<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ResultWriter")
            .field("style", &self.style)
            .finish_non_exhaustive()
    }
}

impl<'a> ResultWriter<'a> {
    pub(crate) fn new(out: &'a mut Vec<u8>, style: &'a ResultFormat) -> Self {
        Self {
            out,
            style,
            failed: false,
        }
    }

    pub(crate) fn style(&self) -> &'a ResultFormat {
        self.style
    }

    /// The buffer that the result is written to.
    pub(crate) fn out(&mut self) -> &mut Vec<u8> {
        self.out
    }

    /// How much has been written, for [`ResultWriter::rewind`].
    pub(crate) fn mark(&self) -> usize {
        self.out.len()
    }

    /// Takes back what has been written since `mark`.
    pub(crate) fn rewind(&mut self, mark: usize) {
        self.out.truncate(mark);
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }

    /// Writes a value of the protocol's own types, whose JSON has no cause to fail.
    pub(crate) fn value<T: Serialize + ?Sized>(&mut self, value: &T) {
        let start = self.out.len();
        if let Err(error) = serde_json::to_writer(&mut *self.out, value) {
            tracing::error!(%error, "a value of the protocol could not be written");
            self.out.truncate(start);
            self.push(b"null");
        }
    }

    /// Notes that what is written tells of a failure.
    pub(crate) fn fail(&mut self) {
        self.failed = true;
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.failed
    }

    /// Writes what has to be asked before there is a complete result.
    pub(crate) fn input_required(&mut self, mut questions: InputRequiredResult) {
        self.style
            .complete_meta(questions.meta.get_or_insert_default());
        self.value(&questions);
    }

    /// Ends the object of a complete result whose structured content is wrapped, as [`ResultWriter::end`] does.
    pub(crate) fn end_wrapped(&mut self, meta: Option<ResultMetaObject>) {
        match meta {
            None => {
                self.push(self.style.wrapped_end());
                self.push(b"}");
            }
            Some(mut meta) => {
                mark_wrapped(&mut meta);
                self.end(Some(meta));
            }
        }
    }

    /// Ends the object of a complete result, with the `_meta` that it has of its own.
    pub(crate) fn end(&mut self, meta: Option<ResultMetaObject>) {
        match meta {
            None => self.push(self.style.result_end()),
            Some(mut meta) => {
                self.style.complete_meta(&mut meta);
                self.push(self.style.result_type());
                self.push(br#","_meta":"#);
                self.value(&meta);
            }
        }
        self.push(b"}");
    }
}

#[cfg(feature = "tower")]
impl ResultWriter<'_> {
    /// Ends the object of a result that is not complete and says so itself.
    pub(crate) fn end_other(&mut self, mut meta: ResultMetaObject) {
        self.style.complete_meta(&mut meta);
        self.push(br#","_meta":"#);
        self.value(&meta);
        self.push(b"}");
    }
}

/// Runs a part of a user's function; says what it panicked with, if it did.
pub(crate) fn catch<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|panic| panic_message(&*panic).to_owned())
}

fn panic_message(panic: &(dyn Any + Send)) -> &str {
    match panic.downcast_ref::<&str>() {
        Some(message) => message,
        None => panic
            .downcast_ref::<String>()
            .map_or("(no message)", String::as_str),
    }
}
