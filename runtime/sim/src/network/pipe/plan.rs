//! Faults of one connection, drawn at its start.

use std::sync::{Arc, Mutex};

use super::{Pipe, State};
use crate::network::SLOW_BUFFER_BYTES;
use crate::world::World;

/// Faults of one connection.
pub(in crate::network) struct Plan {
    /// Time at which the client notices that the connection is gone.
    client_end: Option<u64>,
    /// Time at which the server notices it.
    server_end: Option<u64>,
    /// Least time between two reads of the client in milliseconds, and the size of one.
    pace: Option<(u64, usize)>,
}

impl Plan {
    pub(in crate::network) fn draw(world: &World, now: u64) -> Self {
        world.draw(|faults, random| {
            let end = random
                .chance(faults.drops)
                .then(|| now + random.below(3_000));
            let (mut client_end, mut server_end) = (end, end);
            if end.is_some() {
                // One side may notice much later, as after the end of a machine on the way.
                let later = 1_000 + random.below(10_000);
                match random.below(4) {
                    0 => client_end = end.map(|end| end + later),
                    1 | 2 => server_end = end.map(|end| end + later),
                    _ => {}
                }
            }
            let is_slow = random.chance(faults.slow_readers);
            let bytes = usize::try_from(100 + random.below(400)).unwrap_or(usize::MAX);
            let pace = (20 + random.below(100), bytes);
            Self {
                client_end,
                server_end,
                pace: is_slow.then_some(pace),
            }
        })
    }

    /// Returns `true` if the messages of the connection may be late for a reason outside of the server.
    pub(in crate::network) fn is_rough(&self) -> bool {
        self.client_end.is_some() || self.pace.is_some()
    }

    /// Creates the pipes from the client and to the client.
    pub(in crate::network) fn pipes(&self, world: &World, held: u64) -> [Arc<Pipe>; 2] {
        let seeds = world.draw(|_, random| [random.next(), random.next()]);
        for end in [self.client_end, self.server_end].into_iter().flatten() {
            world.arrives(end);
        }
        let mut up = State::new(seeds[0], (self.server_end, self.client_end));
        up.held = held;
        let mut down = State::new(seeds[1], (self.client_end, self.server_end));
        down.held = held;
        // From the first end on, bytes are lost on the way.
        let ends = self.client_end.into_iter().chain(self.server_end);
        up.lost_from = ends.min();
        down.lost_from = up.lost_from;
        down.pace = self.pace;
        if self.pace.is_some() {
            down.capacity = SLOW_BUFFER_BYTES;
        }
        [up, down].map(|state| Arc::new(Pipe(Mutex::new(state))))
    }
}
