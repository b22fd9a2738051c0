//! Tools that stream: what they produce is gathered into one result, item by item, and each item is told to a caller that
//! asks for progress.

mod bounded;
mod call;
mod gathered;
mod item;
mod result;

use std::error::Error;
use std::future::{Future, poll_fn, ready};
use std::pin::{Pin, pin};
use std::task::{self, Poll};

use futures_core::Stream;
use tokio::task::coop::consume_budget;

pub use self::call::Streaming;
#[cfg(feature = "client")]
pub(crate) use self::call::{ITEM, WANTS_ITEMS};
pub(crate) use self::gathered::Form;
pub use self::gathered::{Fold, Gathered};
pub(crate) use self::item::folded;
pub use self::item::{IntoBlock, Items, ToolItem};

use crate::function::kind::Returns;
use crate::panic::catch;
use crate::stream::gathered::Stop;
use crate::tool::error::ToolError;

/// A type that a tool which streams can return: a [`Stream`], or a `Result` of one, where a failure is as that of other
/// tools. The items are [`ToolItem`]s.
///
/// A `#[tool]` whose type says `impl Stream<…>` or `dyn Stream<…>` streams; where the type has another name, such as
/// `BoxStream<'static, T>`, the attribute says so: `#[tool(stream)]`. It may borrow from what the function takes by
/// reference.
///
/// The parameters, the type of the items and that of the stream, are always inferred.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a stream that a tool can return",
    label = "not a `Stream` that is `Send`, nor a `Result` of one with an `Error`",
    note = "what a stream holds is `Send`, like `Arc` and not `Rc`; the keys `stream` and `fold` are for streams only"
)]
pub trait ToolStream<I, S>: Sized {
    /// Polls the stream to its end and keeps what comes out of it.
    ///
    /// It waits after each item until that has been told, so a caller that takes no messages holds the stream up. It ends
    /// early at an item that is an error, at a panic, and at the bounds of [`Limits`](crate::Limits).
    ///
    /// # Cancellation
    ///
    /// Dropping the future drops the stream.
    #[doc(hidden)]
    fn gather<'a, C: Sync>(self, items: Items<I>, call: &'a Streaming<C>) -> Gathering<'a>
    where
        Self: 'a,
        I: 'static;

    /// What tells the kind of the items.
    #[doc(hidden)]
    fn item() -> Returns<I> {
        Returns::ty()
    }
}

/// A future of what comes out of a stream.
pub type Gathering<'a> = Pin<Box<dyn Future<Output = Gathered> + Send + 'a>>;

#[diagnostic::do_not_recommend]
impl<S: Stream + Send> ToolStream<S::Item, S> for S {
    fn gather<'a, C: Sync>(self, items: Items<S::Item>, call: &'a Streaming<C>) -> Gathering<'a>
    where
        Self: 'a,
        S::Item: 'static,
    {
        Box::pin(items.gather(call, self))
    }
}

#[diagnostic::do_not_recommend]
impl<S, E> ToolStream<S::Item, S> for Result<S, E>
where
    S: Stream + Send,
    E: Into<Box<dyn Error + Send + Sync>>,
{
    fn gather<'a, C: Sync>(self, items: Items<S::Item>, call: &'a Streaming<C>) -> Gathering<'a>
    where
        Self: 'a,
        S::Item: 'static,
    {
        match self {
            Ok(stream) => Box::pin(items.gather(call, stream)),
            Err(error) => {
                let mut gathered = items.none(call);
                gathered.stop = Some(Stop::Failed(ToolError::from_boxed(error.into())));
                Box::pin(ready(gathered))
            }
        }
    }
}

impl<I> Items<I> {
    fn none<C>(&self, call: &Streaming<C>) -> Gathered {
        Gathered::new(self.form, self.fold, call.bounds())
    }

    async fn gather<C, S: Stream<Item = I>>(self, call: &Streaming<C>, stream: S) -> Gathered {
        let mut gathered = self.none(call);
        let mut stream = pin!(stream);
        while self.step(stream.as_mut(), &mut gathered).await {
            call.tell(&gathered).await;
            // A stream that is always ready gives way to others, and to its cancellation.
            consume_budget().await;
        }
        gathered
    }

    /// Takes one item; false if there is none, which is the end.
    async fn step<S: Stream<Item = I>>(
        &self,
        mut stream: Pin<&mut S>,
        gathered: &mut Gathered,
    ) -> bool {
        let next = poll_fn(|context| {
            let added = catch(|| self.poll_add(stream.as_mut(), context, gathered));
            added.unwrap_or_else(|message| Poll::Ready(Some(Err(Stop::Panicked(message)))))
        });
        match next.await {
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
