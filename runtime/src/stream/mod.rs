//! Streaming tools: their items are collected into one result. Each item is also reported to a caller that requested
//! progress.

mod call;
mod collected;
mod item;
mod limited_writer;
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
pub(crate) use self::collected::Form;
pub use self::collected::{Collected, Fold};
pub(crate) use self::item::form_and_fold;
pub use self::item::{IntoBlock, Items, ToolItem};

use crate::function::kind::Returns;
use crate::panic::catch;
use crate::stream::collected::Stop;
use crate::tool::error::ToolError;

/// A type that a streaming tool can return: a [`Stream`], or a `Result` of one, which fails like other tools do.
///
/// The items implement [`ToolItem`]. A `#[tool]` whose return type is `impl Stream<…>` or `dyn Stream<…>` is a
/// streaming tool. For a type with another name, such as `BoxStream<'static, T>`, the attribute is `#[tool(stream)]`.
/// The stream may borrow from the reference arguments of the function.
///
/// The parameters, the types of the items and of the stream, are always inferred.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a stream that a tool can return",
    label = "not a `Stream` that is `Send`, nor a `Result` of one with an `Error`",
    note = "everything in a stream must be `Send`, such as `Arc` instead of `Rc`; the keys `stream` and `fold` are for streams only"
)]
pub trait ToolStream<I, S>: Sized {
    /// Polls the stream to its end and collects its items.
    ///
    /// It waits after each item until the item has been reported, so a caller that does not read its messages applies
    /// back-pressure. Collection stops early at an error, at a panic, and at the bounds of [`Limits`](crate::Limits).
    ///
    /// # Cancellation
    ///
    /// Dropping the future drops the stream.
    #[doc(hidden)]
    fn collect_items<'a, C: Sync>(self, items: Items<I>, call: &'a Streaming<C>) -> Collecting<'a>
    where
        Self: 'a,
        I: 'static;

    /// Marker for inferring the kind of the items.
    #[doc(hidden)]
    fn item() -> Returns<I> {
        Returns::ty()
    }
}

/// A future of the collected items.
pub type Collecting<'a> = Pin<Box<dyn Future<Output = Collected> + Send + 'a>>;

#[diagnostic::do_not_recommend]
impl<S: Stream + Send> ToolStream<S::Item, S> for S {
    fn collect_items<'a, C: Sync>(
        self,
        items: Items<S::Item>,
        call: &'a Streaming<C>,
    ) -> Collecting<'a>
    where
        Self: 'a,
        S::Item: 'static,
    {
        Box::pin(items.collect_items(call, self))
    }
}

#[diagnostic::do_not_recommend]
impl<S, E> ToolStream<S::Item, S> for Result<S, E>
where
    S: Stream + Send,
    E: Into<Box<dyn Error + Send + Sync>>,
{
    fn collect_items<'a, C: Sync>(
        self,
        items: Items<S::Item>,
        call: &'a Streaming<C>,
    ) -> Collecting<'a>
    where
        Self: 'a,
        S::Item: 'static,
    {
        match self {
            Ok(stream) => Box::pin(items.collect_items(call, stream)),
            Err(error) => {
                let mut collected = items.empty(call);
                collected.stop = Some(Stop::Failed(ToolError::from_boxed(error.into())));
                Box::pin(ready(collected))
            }
        }
    }
}

impl<I> Items<I> {
    fn empty<C>(&self, call: &Streaming<C>) -> Collected {
        Collected::new(self.form, self.fold, call.bounds())
    }

    async fn collect_items<C, S: Stream<Item = I>>(
        self,
        call: &Streaming<C>,
        stream: S,
    ) -> Collected {
        let mut collected = self.empty(call);
        let mut stream = pin!(stream);
        while self.step(stream.as_mut(), &mut collected).await {
            call.report_item(&collected).await;
            // A stream that is always ready must yield to other tasks, and to cancellation.
            consume_budget().await;
        }
        collected
    }

    /// Adds the next item. Returns false at the end of the stream.
    async fn step<S: Stream<Item = I>>(
        &self,
        mut stream: Pin<&mut S>,
        collected: &mut Collected,
    ) -> bool {
        let next = poll_fn(|context| {
            let added = catch(|| self.poll_add(stream.as_mut(), context, collected));
            added.unwrap_or_else(|message| Poll::Ready(Some(Err(Stop::Panicked(message)))))
        });
        match next.await {
            Some(Ok(())) => true,
            Some(Err(stop)) => {
                collected.stop = Some(stop);
                false
            }
            None => false,
        }
    }

    fn poll_add<S: Stream<Item = I>>(
        &self,
        stream: Pin<&mut S>,
        context: &mut task::Context<'_>,
        collected: &mut Collected,
    ) -> Poll<Option<Result<(), Stop>>> {
        let next = stream.poll_next(context);
        next.map(|item| item.map(|item| (self.add)(item, collected)))
    }
}
