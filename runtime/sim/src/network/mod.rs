//! Connections between clients and replicas, with delays and faults.

mod listener;
mod pipe;
mod stream;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, Weak};

pub(crate) use self::listener::Listener;
use self::pipe::{Pipe, Plan};
pub(crate) use self::stream::SimStream;
use crate::options::Balance;
use crate::world::{World, lock};

/// Size of the buffer of a connection in one direction, in bytes.
const BUFFER_BYTES: usize = 64 * 1024;
/// Size of the buffer for a slow reader.
const SLOW_BUFFER_BYTES: usize = 2 * 1024;
/// Time after which an attempt to connect to a host that does not answer fails, in milliseconds.
const CONNECT_TIMEOUT: u64 = 5_000;
/// Time after which connections no longer lead to a replica that has ended, in milliseconds.
const HEALTH_CHECK: u64 = 500;

/// Connections, and the places where replicas accept them.
pub(crate) struct Network {
    state: Mutex<State>,
}

struct State {
    listeners: Vec<Place>,
    links: Vec<Link>,
    partitions: Vec<Partition>,
    /// Replicas to which clients have moved while their own one was down.
    homes: BTreeMap<usize, usize>,
    next: u64,
}

#[derive(Clone, Default)]
struct Place {
    listener: Option<Arc<Listener>>,
    /// Time at which the replica ended.
    down_since: u64,
}

/// Connection between a client and a replica.
struct Link {
    client: usize,
    replica: usize,
    pipes: [Weak<Pipe>; 2],
    /// Time at which it was dialed.
    since: u64,
    /// Its messages may be late for a reason outside of the server.
    is_rough: bool,
}

impl Link {
    fn is_alive(&self) -> bool {
        self.pipes.iter().any(|pipe| pipe.strong_count() > 0)
    }
}

/// Messages between these two arrive only after `until`. `None` is the task store.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Partition {
    pub(crate) client: Option<usize>,
    pub(crate) replica: usize,
    pub(crate) until: u64,
}

/// Process with connections.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Side {
    Client(usize),
    Replica(usize),
}

/// Client side and server side of a new connection.
pub(crate) struct Dialed {
    pub(crate) stream: SimStream,
    /// Time at which the connection is open, or has failed.
    pub(crate) at: u64,
    pub(crate) is_open: bool,
}

impl Network {
    pub(crate) fn new(replicas: usize) -> Self {
        Self {
            state: Mutex::new(State {
                listeners: vec![Place::default(); replicas],
                links: Vec::new(),
                partitions: Vec::new(),
                homes: BTreeMap::new(),
                next: 0,
            }),
        }
    }

    /// Opens the place where a replica accepts connections.
    pub(crate) fn listen(&self, replica: usize) -> Arc<Listener> {
        let listener = Arc::<Listener>::default();
        lock(&self.state).listeners[replica].listener = Some(Arc::clone(&listener));
        listener
    }

    /// Closes the place where a replica accepts connections.
    pub(crate) fn unlisten(&self, replica: usize, now: u64) {
        let place = &mut lock(&self.state).listeners[replica];
        place.listener = None;
        place.down_since = now;
    }

    /// Closes the connections of a process that ends, in their order. The tasks of a runtime have none.
    pub(crate) fn close_all(&self, world: &World, of: Side) {
        let links: Vec<_> = {
            let state = lock(&self.state);
            let links = state.links.iter().filter(|link| match of {
                Side::Client(client) => link.client == client,
                Side::Replica(replica) => link.replica == replica,
            });
            links.map(|link| link.pipes.clone()).collect()
        };
        for [up, down] in links {
            let (output, input) = match of {
                Side::Client(_) => (up, down),
                Side::Replica(_) => (down, up),
            };
            if let Some(output) = output.upgrade() {
                output.finish(world);
            }
            if let Some(input) = input.upgrade() {
                input.abandon(world);
            }
        }
    }

    /// Delays the messages between two processes.
    pub(crate) fn partition(&self, world: &World, partition: Partition) {
        let mut state = lock(&self.state);
        state.partitions.push(partition);
        state.links.retain(|link| link.is_rough || link.is_alive());
        let cut = |link: &&Link| {
            Some(link.client) == partition.client && link.replica == partition.replica
        };
        let links = state.links.iter().filter(cut);
        let pipes: Vec<_> = links
            .flat_map(|link| link.pipes.iter().filter_map(Weak::upgrade))
            .collect();
        drop(state);
        for pipe in pipes {
            pipe.hold(world, partition.until);
        }
    }

    /// Returns the time until which nothing passes between two processes.
    pub(crate) fn held_until(&self, client: Option<usize>, replica: usize, now: u64) -> u64 {
        let mut state = lock(&self.state);
        state.partitions.retain(|one| one.until > now);
        let cut = state.partitions.iter();
        let cut = cut.filter(|one| one.client == client && one.replica == replica);
        cut.map(|one| one.until).max().unwrap_or(0)
    }

    /// Returns `true` if a client has a rough connection, or has dialed one since then.
    pub(crate) fn has_rough(&self, client: usize, since: u64) -> bool {
        let state = lock(&self.state);
        let mut links = state.links.iter();
        links.any(|link| {
            link.client == client && link.is_rough && (link.since >= since || link.is_alive())
        })
    }

    /// Heals all partitions.
    pub(crate) fn heal(&self, world: &World) {
        let mut state = lock(&self.state);
        state.partitions.clear();
        let links = state.links.iter();
        let pipes = links.flat_map(|link| link.pipes.iter().filter_map(Weak::upgrade));
        let pipes: Vec<_> = pipes.collect();
        drop(state);
        for pipe in pipes {
            pipe.release(world);
        }
    }

    /// Opens a connection of a client to a replica.
    pub(crate) fn dial(world: &Arc<World>, client: usize) -> Dialed {
        let now = world.now();
        let network = &world.network;
        let replica = network.choose(world, client, now);
        let held = network.held_until(Some(client), replica, now);
        let latency = world.draw(|faults, random| random.within(&faults.latency));
        let (listener, number) = {
            let mut state = lock(&network.state);
            state.next += 1;
            (state.listeners[replica].listener.clone(), state.next)
        };
        let plan = Plan::draw(world, now);
        let [up, down] = plan.pipes(world, held);
        let link = Link {
            client,
            replica,
            pipes: [Arc::downgrade(&up), Arc::downgrade(&down)],
            since: now,
            is_rough: plan.is_rough(),
        };
        lock(&network.state).links.push(link);
        let name = format!("{number} (client-{client} to replica-{replica})");
        let ours = SimStream::new(world, (down.clone(), up.clone()), number);
        let theirs = SimStream::new(world, (up, down), number).named(&name, plan.is_rough());
        let is_reachable = held <= now + CONNECT_TIMEOUT;
        let at = if is_reachable {
            held.max(now) + latency
        } else {
            now + CONNECT_TIMEOUT
        };
        let is_open = listener.is_some() && is_reachable;
        world.log(format!("connects as {name}"));
        match listener.filter(|_| is_open) {
            Some(listener) => listener.push(world, theirs, at),
            None => theirs.refuse(at),
        }
        Dialed {
            stream: ours,
            at,
            is_open,
        }
    }

    /// Chooses the replica of a new connection, as a load balancer does that notices the end of a replica after a while.
    fn choose(&self, world: &World, client: usize, now: u64) -> usize {
        let state = lock(&self.state);
        let seems_up = |place: &Place| {
            place.listener.is_some() || now < place.down_since.saturating_add(HEALTH_CHECK)
        };
        let places = state.listeners.iter().enumerate();
        let up: Vec<usize> = places
            .filter(|(_, place)| seems_up(place))
            .map(|(index, _)| index)
            .collect();
        let all = state.listeners.len();
        let home = state.homes.get(&client).copied();
        drop(state);
        let own = home.unwrap_or(client % all.max(1));
        let is_sticky = world.options.balance == Balance::Sticky;
        if up.is_empty() || (is_sticky && up.contains(&own)) {
            return own;
        }
        let chosen = world.draw(|_, random| random.below(up.len() as u64));
        let chosen = up[usize::try_from(chosen).unwrap_or(0)];
        if is_sticky {
            lock(&self.state).homes.insert(client, chosen);
        }
        chosen
    }
}
