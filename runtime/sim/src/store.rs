//! Task store that the replicas of a simulation share.

use std::collections::VecDeque;
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::{Sleep, sleep};
use treenail_tasks::{StoreError, StoreFuture, StoreUsage, StoredTask, TaskId, TaskStore};

use crate::serve::Replica;
use crate::world::{World, lock};

type Job = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Connection of a [`Replica`] to a task store that all replicas share. The store runs in a process of its own: operations take time,
/// fail with the probability of [`Faults::store_failures`](crate::Faults::store_failures), and wait in partitions.
#[derive(Clone)]
pub struct SimStore {
    world: Arc<World>,
    replica: usize,
    inner: Arc<dyn TaskStore>,
}

impl fmt::Debug for SimStore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_tuple("SimStore")
            .field(&self.replica)
            .finish()
    }
}

impl Replica {
    /// Returns its connection to a task store, such as a [`MemoryStore`](treenail_tasks::MemoryStore) that all replicas share.
    #[cfg_attr(docsrs, doc(cfg(feature = "tasks")))]
    pub fn store(&self, inner: Arc<dyn TaskStore>) -> SimStore {
        SimStore {
            world: Arc::clone(&self.world),
            replica: self.index,
            inner,
        }
    }
}

impl SimStore {
    /// Performs an operation in the process of the store.
    fn perform<T, F>(&self, operation: F) -> StoreFuture<'_, T>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, StoreError>> + Send + 'static,
    {
        Box::pin(async move {
            let world = &self.world;
            let (fails, is_done, there, back) = world.draw(|faults, random| {
                (
                    random.chance(faults.store_failures),
                    random.chance(0.5),
                    random.within(&faults.latency),
                    random.within(&faults.latency),
                )
            });
            self.wait(there).await;
            if fails && !is_done {
                return Err(unavailable());
            }
            let (sender, receiver) = oneshot::channel();
            world.jobs.push(
                world,
                Box::pin(async move {
                    // The process that waits may have ended.
                    let _ = sender.send(operation.await);
                }),
            );
            let result = receiver.await;
            self.wait(back).await;
            if fails {
                world.log("loses the response of the store");
                return Err(unavailable());
            }
            result.map_err(|_| unavailable())?
        })
    }

    /// Waits until a message has arrived.
    async fn wait(&self, latency: u64) {
        let now = self.world.now();
        let held = self.world.network.held_until(None, self.replica, now);
        let at = held.max(now + latency);
        self.world.arrives(at);
        sleep(Duration::from_millis(at - now)).await;
    }
}

fn unavailable() -> StoreError {
    StoreError::Unavailable("the simulated store does not respond".to_owned())
}

impl TaskStore for SimStore {
    fn insert(&self, task: StoredTask, wake: Duration) -> StoreFuture<'_, ()> {
        let store = Arc::clone(&self.inner);
        self.perform(async move { store.insert(task, wake).await })
    }

    fn get<'a>(&'a self, id: &'a TaskId) -> StoreFuture<'a, Option<StoredTask>> {
        let (store, id) = (Arc::clone(&self.inner), id.clone());
        self.perform(async move { store.get(&id).await })
    }

    fn state<'a>(&'a self, id: &'a TaskId) -> StoreFuture<'a, Option<StoredTask>> {
        let (store, id) = (Arc::clone(&self.inner), id.clone());
        self.perform(async move { store.state(&id).await })
    }

    fn replace(&self, task: StoredTask, wake: Duration) -> StoreFuture<'_, bool> {
        let store = Arc::clone(&self.inner);
        self.perform(async move { store.replace(task, wake).await })
    }

    fn remove<'a>(&'a self, id: &'a TaskId, version: u64) -> StoreFuture<'a, bool> {
        let (store, id) = (Arc::clone(&self.inner), id.clone());
        self.perform(async move { store.remove(&id, version).await })
    }

    fn due(&self, limit: usize) -> StoreFuture<'_, Vec<StoredTask>> {
        let store = Arc::clone(&self.inner);
        self.perform(async move { store.due(limit).await })
    }

    fn list<'a>(
        &'a self,
        owner: &'a str,
        after: Option<&'a TaskId>,
        limit: usize,
    ) -> StoreFuture<'a, Vec<StoredTask>> {
        let (store, owner) = (Arc::clone(&self.inner), owner.to_owned());
        let after = after.cloned();
        self.perform(async move { store.list(&owner, after.as_ref(), limit).await })
    }

    fn usage<'a>(&'a self, owner: &'a str) -> StoreFuture<'a, StoreUsage> {
        let (store, owner) = (Arc::clone(&self.inner), owner.to_owned());
        self.perform(async move { store.usage(&owner).await })
    }
}

/// Operations that have arrived at the store.
#[derive(Default)]
pub(crate) struct Jobs(Mutex<Queue>);

#[derive(Default)]
struct Queue {
    jobs: VecDeque<(u64, Job)>,
    waker: Option<Waker>,
}

impl Jobs {
    fn push(&self, world: &World, job: Job) {
        let mut queue = lock(&self.0);
        queue.jobs.push_back((world.now(), job));
        let waker = queue.waker.take();
        drop(queue);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl Jobs {
    /// Polls the next operation. `timer` waits until the process of the store has reached the time of one.
    fn poll_next(
        &self,
        world: &World,
        timer: &mut Option<Pin<Box<Sleep>>>,
        context: &mut Context<'_>,
    ) -> Poll<Job> {
        loop {
            let mut queue = lock(&self.0);
            queue.waker = Some(context.waker().clone());
            let now = world.now();
            let Some((at, _)) = queue.jobs.front() else {
                return Poll::Pending;
            };
            if *at <= now {
                let first = queue.jobs.pop_front();
                return first.map_or(Poll::Pending, |(_, job)| Poll::Ready(job));
            }
            let wait = Duration::from_millis(*at - now);
            drop(queue);
            let timer = timer.insert(Box::pin(sleep(wait)));
            if timer.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
        }
    }
}

/// Performs the operations, in the process of the store.
pub(crate) async fn work(world: Arc<World>) {
    let mut timer = None;
    loop {
        let job = poll_fn(|context| world.jobs.poll_next(&world, &mut timer, context)).await;
        tokio::spawn(job);
    }
}
