//! Place where a replica accepts connections.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::Mutex;
use std::task::{Poll, Waker};
use std::time::Duration;

use tokio::time::sleep;

use super::SimStream;
use crate::world::{World, lock};

/// Connections that have not been accepted.
#[derive(Default)]
pub(crate) struct Listener(Mutex<Queue>);

#[derive(Default)]
struct Queue {
    waiting: VecDeque<(u64, SimStream)>,
    waker: Option<Waker>,
}

impl Listener {
    /// Adds a connection that arrives at `at`.
    pub(super) fn push(&self, world: &World, stream: SimStream, at: u64) {
        let mut queue = lock(&self.0);
        queue.waiting.push_back((at, stream));
        let waker = queue.waker.take();
        drop(queue);
        world.arrives(at);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Waits for the next connection.
    pub(crate) async fn accept(&self, world: &World) -> SimStream {
        let (at, stream) = poll_fn(|context| {
            let mut queue = lock(&self.0);
            // Connections of different clients overtake each other.
            let first = queue.waiting.iter().enumerate();
            let first = first.min_by_key(|(_, (at, _))| *at);
            let index = first.map(|(index, _)| index);
            if let Some(first) = index.and_then(|index| queue.waiting.remove(index)) {
                return Poll::Ready(first);
            }
            queue.waker = Some(context.waker().clone());
            Poll::Pending
        })
        .await;
        sleep(Duration::from_millis(at.saturating_sub(world.now()))).await;
        stream
    }
}
