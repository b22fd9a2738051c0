//! Subscription to the changes of one task.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures_core::Stream as _;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use treenail_runtime::client::{ClientError, ServerNotification, Subscription};

use crate::client::remote::{Owned, RemoteTask};

/// Subscription to the changes of one task, as far as the server serves it.
pub(super) enum Push {
    /// Not possible, or not any more.
    Off,
    Opening(
        Owned<Result<Option<Subscription>, ClientError>>,
        OwnedSemaphorePermit,
    ),
    Open(Box<Subscription>, OwnedSemaphorePermit),
    /// The stream has ended. It is opened again after the next poll.
    Broken(OwnedSemaphorePermit),
}

/// Event of a subscription.
pub(super) enum PushEvent {
    /// The subscription is open, or is open no more.
    Changed,
    Notification(ServerNotification),
}

impl Push {
    /// Opens a subscription, if a permit is free.
    pub(super) fn open(task: &RemoteTask, permits: Option<Arc<Semaphore>>) -> Self {
        let permit = permits.and_then(|permits| permits.try_acquire_owned().ok());
        permit.map_or(Self::Off, |permit| Self::Opening(task.listen(), permit))
    }

    /// Opens the subscription again, if its stream has ended.
    pub(super) fn reopen(&mut self, task: &RemoteTask) {
        *self = match std::mem::replace(self, Self::Off) {
            Self::Broken(permit) => Self::Opening(task.listen(), permit),
            other => other,
        };
    }

    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<PushEvent> {
        match self {
            Self::Off | Self::Broken(_) => return Poll::Pending,
            Self::Opening(opening, _) => {
                let opened = ready!(opening.as_mut().poll(context));
                if let Err(error) = &opened {
                    tracing::debug!(%error, "the changes of a task cannot be subscribed to");
                }
                self.finish_opening(opened.ok().flatten());
            }
            Self::Open(subscription, _) => {
                let next = ready!(Pin::new(&mut **subscription).poll_next(context));
                if let Some(Ok(notification)) = next {
                    return Poll::Ready(PushEvent::Notification(notification));
                }
                self.break_off();
            }
        }
        Poll::Ready(PushEvent::Changed)
    }

    fn finish_opening(&mut self, subscription: Option<Subscription>) {
        if let Self::Opening(_, permit) = std::mem::replace(self, Self::Off) {
            *self = subscription.map_or(Self::Off, |it| Self::Open(Box::new(it), permit));
        }
    }

    fn break_off(&mut self) {
        if let Self::Open(_, permit) = std::mem::replace(self, Self::Off) {
            *self = Self::Broken(permit);
        }
    }
}
