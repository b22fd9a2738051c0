//! Replicas of a run: their starts, their ends, and the actions on them.

use std::sync::Arc;

use treenail_http_server::{HttpService, http_service};
use treenail_runtime::{Result, Server};

use super::{Engine, start};
use crate::host::Host;
use crate::network::{Partition, Side};
use crate::options::MemoryLimits;
use crate::random::Random;
use crate::schedule::Action;
use crate::serve::{Replica, serve};
use crate::simulation::{Factory, Simulation};

/// Process of a replica, which may be down.
#[derive(Default)]
pub(super) struct Running {
    pub(super) host: Option<Host>,
    pub(super) server: Option<Server>,
    /// It does not start before this time.
    down_until: u64,
    /// Number of its starts.
    starts: u64,
    /// Number of its tokio tasks without clients.
    pub(super) own_tasks: usize,
    /// Difference of its time of day, which a restart retains.
    skew: i64,
}

impl Engine<'_> {
    pub(super) fn perform(&mut self, action: Action) {
        match action {
            Action::Kill { replica, down } => {
                self.kill(replica);
                let until = self.now.saturating_add(down);
                self.world.disturbed_until(until);
                let running = &mut self.replicas[replica];
                running.down_until = running.down_until.max(until);
                self.schedule(until, Action::Boot { replica });
            }
            Action::Close { replica, grace } => self.close(replica, grace),
            // A later kill may have set another time.
            Action::Boot { replica } if self.now < self.replicas[replica].down_until => {}
            Action::Boot { replica } => self.boot(replica),
            Action::Pause { replica, time } => self.pause(replica, time),
            Action::Partition {
                client,
                replica,
                time,
            } => self.separate(client, replica, time),
            Action::Jump { replica, by } => self.shift_clock(replica, by),
        }
    }

    /// Closes the server of a replica, and schedules the end of its process.
    fn close(&mut self, replica: usize, grace: u64) {
        self.world.log(format!("replica-{replica} closes"));
        self.world.disturbed_until(self.now + grace + 1_000);
        self.world.network.unlisten(replica, self.now);
        let running = &self.replicas[replica];
        if let (Some(host), Some(server)) = (&running.host, &running.server) {
            self.world.count_fault();
            host.enter(|| server.close());
        }
        let down = 100;
        self.schedule(self.now + grace, Action::Kill { replica, down });
    }

    fn pause(&mut self, replica: usize, time: u64) {
        self.world
            .log(format!("replica-{replica} pauses for {time} ms"));
        let until = self.now.saturating_add(time);
        self.world.disturbed_until(until);
        if let Some(host) = &mut self.replicas[replica].host {
            self.world.count_fault();
            host.paused_until = host.paused_until.max(until);
        }
    }

    /// Separates a replica from a client, or from the task store.
    fn separate(&self, client: Option<usize>, replica: usize, time: u64) {
        let peer = client.map_or("store".to_owned(), |client| format!("client-{client}"));
        self.world.log(format!(
            "{peer} and replica-{replica} are separated for {time} ms"
        ));
        let until = self.now + time;
        self.world.count_fault();
        self.world.disturbed_until(until);
        let partition = Partition {
            client,
            replica,
            until,
        };
        self.world.network.partition(&self.world, partition);
    }

    /// Lets the time of day of a replica jump.
    fn shift_clock(&mut self, replica: usize, by: i64) {
        self.world.log(format!(
            "the time of day of replica-{replica} jumps by {by} ms"
        ));
        self.world.count_fault();
        let running = &mut self.replicas[replica];
        running.skew += by;
        if let Some(host) = &running.host {
            host.clock.shift(by);
        }
    }

    /// Starts a replica that is down.
    pub(super) fn boot(&mut self, index: usize) {
        let world = &self.world;
        let running = &mut self.replicas[index];
        if running.host.is_some() {
            return;
        }
        running.down_until = 0;
        running.starts += 1;
        let stream = 1_000 * (index as u64 + 1) + running.starts;
        let random = Random::new(self.simulation.seed, stream);
        let mut host = start(&format!("replica-{index}"), self.now, random, running.skew);
        let replica = Replica {
            index,
            world: Arc::clone(world),
            clock: Arc::clone(&host.clock),
        };
        let built = host.enter(|| {
            world.log("starts");
            let build = || build(&self.factory, self.simulation, &replica);
            host.clock.catch(build)
        });
        let failure = match built {
            Some(Ok(Ok(service))) => {
                let listener = world.network.listen(index);
                running.own_tasks = host.tasks();
                running.server = Some(service.server().clone());
                host.set_main(serve(Arc::clone(world), service, listener));
                running.host = Some(host);
                return;
            }
            Some(Ok(Err(error))) => error.to_string(),
            Some(Err(panic)) => format!("its function panicked: {panic}"),
            None => return,
        };
        world.violation(format!("the server does not start: {failure}"));
    }

    /// Ends a replica at once.
    fn kill(&mut self, replica: usize) {
        let running = &mut self.replicas[replica];
        if let Some(host) = running.host.take() {
            self.world.log(format!("replica-{replica} is killed"));
            self.world.network.unlisten(replica, self.now);
            let server = running.server.take();
            // The end of a closed one belongs to its restart.
            if !server.as_ref().is_some_and(Server::is_closed) {
                self.world.count_fault();
            }
            self.world
                .network
                .close_all(&self.world, Side::Replica(replica));
            self.end(host, server, |limits| limits.busy);
        }
    }

    /// Ends the process of a replica, and checks the memory that it held.
    pub(super) fn end(
        &self,
        mut host: Host,
        mut server: Option<Server>,
        limit: fn(&MemoryLimits) -> i64,
    ) {
        let mut end = || {
            host.enter(|| drop(server.take()));
            host.end();
        };
        let limits = self.simulation.memory_limits.as_ref();
        let Some(limits) = limits.filter(|_| !self.is_stuck) else {
            return end();
        };
        let held = -(limits.measure)(&mut end);
        let limit = limit(limits);
        if held > limit {
            let name = host.clock.name();
            self.world
                .violation(format!("{name} held {held} bytes, more than {limit}"));
        }
    }

    /// Heals everything, and starts the replicas that are down.
    pub(super) fn end_faults(&mut self) {
        // Those of the last acts of clients end too.
        self.act_on_requests();
        self.world.end_faults();
        self.world.network.heal(&self.world);
        let closing = self.events.values().filter_map(|action| match action {
            Action::Kill { replica, .. } => Some(*replica),
            _ => None,
        });
        // The process of a closed server ends.
        let closing: Vec<_> = closing.collect();
        self.events.clear();
        for replica in closing {
            let server = self.replicas[replica].server.as_ref();
            if server.is_some_and(Server::is_closed) {
                self.kill(replica);
            }
        }
        for replica in 0..self.replicas.len() {
            if let Some(host) = &mut self.replicas[replica].host {
                host.paused_until = host.paused_until.min(self.now);
            }
            self.boot(replica);
        }
    }
}

/// Builds the server of a replica, with its HTTP service.
fn build(factory: &Factory, simulation: &Simulation, replica: &Replica) -> Result<HttpService> {
    let service = http_service(factory(replica)?).with_stream_permits();
    match &simulation.configure {
        Some(configure) => configure(replica, service),
        None => Ok(service),
    }
}
