//! Tools that stream: what they produce is gathered into one result, item by item, and each item is told to a caller that
//! asks for progress.

mod bounded;
mod call;
mod gathered;
mod item;
mod result;

use std::error::Error;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::{self, Poll};

use futures_core::Stream;
use tokio::task::coop::consume_budget;

pub use self::call::Streaming;
pub use self::gathered::{Fold, Gathered};
pub use self::item::{IntoBlock, Items, ToolItem};

use crate::function::kind;
use crate::respond::catch;
use crate::stream::gathered::Stop;
use crate::tool::error::ToolError;

/// A type that a tool which streams can return: a [`Stream`], or a `Result` of one, where a failure is as that of other
/// tools. The items are [`ToolItem`]s.
///
/// A `#[tool]` whose type says `impl Stream<…>` or `dyn Stream<…>` streams; where the type has another name, such as
/// `BoxStream<'static, T>`, the attribute says so: `#[tool(stream)]`. It may borrow from what the function takes by
/// reference.
///
/// The parameter `K` tells the two apart and is always inferred.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a stream",
    label = "not a stream",
    note = "return a `Stream`, or a `Result` of one with an `Error`; or remove `stream` and `fold` from the attribute"
)]
pub trait ToolStream<K> {
    /// What the stream is made of.
    type Item;
    /// The stream, if there is one.
    type Stream: Stream<Item = Self::Item>;

    /// The stream, or why there is none.
    fn open(self) -> Result<Self::Stream, ToolError>;
}

#[diagnostic::do_not_recommend]
impl<S: Stream> ToolStream<kind::Streamed> for S {
    type Item = S::Item;
    type Stream = S;

    fn open(self) -> Result<S, ToolError> {
        Ok(self)
    }
}

#[diagnostic::do_not_recommend]
impl<S, E> ToolStream<kind::Fallible<kind::Streamed>> for Result<S, E>
where
    S: Stream,
    E: Into<Box<dyn Error + Send + Sync>>,
{
    type Item = S::Item;
    type Stream = S;

    fn open(self) -> Result<S, ToolError> {
        self.map_err(|error| ToolError::from_boxed(error.into()))
    }
}

impl<I> Items<I> {
    /// Polls the stream to its end and keeps what comes out of it.
    ///
    /// It waits after each item until that has been told, so a caller that takes no messages holds the stream up. It ends
    /// early at an item that is an error, at a panic, and at the bounds of [`Limits`](crate::Limits).
    ///
    /// # Cancellation
    ///
    /// Dropping the future drops the stream.
    pub async fn gather<C, S>(self, call: &Streaming<C>, opened: Result<S, ToolError>) -> Gathered
    where
        S: Stream<Item = I>,
    {
        let mut gathered = Gathered::new(self.form, self.fold, call.bounds());
        match opened {
            Ok(stream) => {
                let mut stream = pin!(stream);
                while self.step(stream.as_mut(), &mut gathered).await {
                    call.tell(&gathered).await;
                    // A stream that is always ready gives way to others, and to its cancellation.
                    consume_budget().await;
                }
            }
            Err(error) => gathered.stop = Some(Stop::Failed(error)),
        }
        gathered
    }

    /// Takes one item; false if there is none, which is the end.
    async fn step<S: Stream<Item = I>>(
        &self,
        mut stream: Pin<&mut S>,
        gathered: &mut Gathered,
    ) -> bool {
        let step = poll_fn(|context| {
            let polled = catch(|| self.poll_add(stream.as_mut(), context, gathered));
            polled.unwrap_or_else(|message| Poll::Ready(Some(Err(Stop::Panicked(message)))))
        });
        match step.await {
            Some(Ok(())) => true,
            Some(Err(stop)) => {
                gathered.stop = Some(stop);
                false
            }
            None => false,
        }
    }

    fn poll_add<S: Stream<Item = I>>(
        &self,
        stream: Pin<&mut S>,
        context: &mut task::Context<'_>,
        gathered: &mut Gathered,
    ) -> Poll<Option<Result<(), Stop>>> {
        let next = stream.poll_next(context);
        next.map(|item| item.map(|item| (self.add)(item, gathered)))
    }
}
