//! Event bus between the replicas of a simulation.

use std::collections::VecDeque;
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, Weak};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::time::{Sleep, sleep};
use treenail_runtime::{BusFuture, EventBus, EventLink};

use crate::world::{World, lock};

/// Connection of a [`Replica`](crate::Replica) to the event bus of its simulation. Its connection breaks with the probability of
/// [`Faults::bus_failures`](crate::Faults::bus_failures); messages are then lost as with a real engine.
#[derive(Clone)]
pub struct SimBus {
    world: Arc<World>,
    replica: usize,
}

impl fmt::Debug for SimBus {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_tuple("SimBus")
            .field(&self.replica)
            .finish()
    }
}

impl SimBus {
    pub(crate) fn new(world: &Arc<World>, replica: usize) -> Self {
        Self {
            world: Arc::clone(world),
            replica,
        }
    }

    /// Publishes a message to all connected replicas. Returns false if the connection has failed.
    fn publish(&self, message: &[u8]) -> bool {
        let world = &self.world;
        let text = String::from_utf8_lossy(message).into_owned();
        let (fails, arrives) =
            world.draw(|faults, random| (random.chance(faults.bus_failures), random.chance(0.5)));
        world.log(format!("publishes {text}"));
        if fails {
            world.log("the connection to the event bus breaks");
        }
        if !fails || arrives {
            world.inboxes.push(world, message);
        }
        !fails
    }

    async fn connect(&self, link: EventLink) -> Result<(), &'static str> {
        let inbox = self.world.inboxes.open();
        link.connected();
        loop {
            let mut next = pin!(link.next());
            let mut timer = None;
            let step = poll_fn(|context| {
                if let Poll::Ready(message) = inbox.poll(&self.world, &mut timer, context) {
                    return Poll::Ready(Step::Received(message));
                }
                next.as_mut().poll(context).map(Step::Publish)
            });
            match step.await {
                Step::Received(message) => link.receive(&message),
                Step::Publish(message) => {
                    if !self.publish(&message) {
                        return Err("the simulated connection has failed");
                    }
                }
            }
        }
    }
}

enum Step {
    Received(Vec<u8>),
    Publish(Vec<u8>),
}

impl EventBus for SimBus {
    fn run(&self, link: EventLink) -> BusFuture<'_> {
        Box::pin(async move { Ok(self.connect(link).await?) })
    }
}

/// Connections to the event bus.
#[derive(Default)]
pub(crate) struct Inboxes(Mutex<Vec<Weak<Inbox>>>);

impl Inboxes {
    fn open(&self) -> Arc<Inbox> {
        let inbox = Arc::<Inbox>::default();
        let mut inboxes = lock(&self.0);
        inboxes.retain(|inbox| inbox.strong_count() > 0);
        inboxes.push(Arc::downgrade(&inbox));
        inbox
    }

    fn push(&self, world: &World, message: &[u8]) {
        let inboxes: Vec<_> = lock(&self.0).iter().filter_map(Weak::upgrade).collect();
        for inbox in inboxes {
            let latency = world.draw(|faults, random| random.within(&faults.latency));
            inbox.push(world, world.now() + latency, message);
        }
    }
}

/// Messages to one replica.
#[derive(Default)]
struct Inbox(Mutex<Queue>);

#[derive(Default)]
struct Queue {
    messages: VecDeque<(u64, Vec<u8>)>,
    waker: Option<Waker>,
}

impl Inbox {
    fn push(&self, world: &World, at: u64, message: &[u8]) {
        let mut queue = lock(&self.0);
        let at = queue.messages.back().map_or(at, |(last, _)| at.max(*last));
        queue.messages.push_back((at, message.to_vec()));
        let waker = queue.waker.take();
        drop(queue);
        world.arrives(at);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn poll(
        &self,
        world: &World,
        timer: &mut Option<Pin<Box<Sleep>>>,
        context: &mut Context<'_>,
    ) -> Poll<Vec<u8>> {
        loop {
            let at = {
                let mut queue = lock(&self.0);
                queue.waker = Some(context.waker().clone());
                match queue.messages.front() {
                    None => return Poll::Pending,
                    Some((at, _)) if *at > world.now() => *at,
                    Some(_) => {
                        let first = queue.messages.pop_front();
                        return first.map_or(Poll::Pending, |(_, message)| Poll::Ready(message));
                    }
                }
            };
            let wait = Duration::from_millis(at - world.now());
            let timer = timer.insert(Box::pin(sleep(wait)));
            if timer.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
        }
    }
}
