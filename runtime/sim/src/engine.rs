//! One run of a simulation.
//!
//! All processes advance in small steps of virtual time, one after the other. The steps grow while nothing happens, and end at the
//! next arrival or fault.

use std::collections::BTreeMap;
use std::sync::Arc;

use treenail_runtime::Server;

use crate::client::Client;
use crate::host::Host;
use crate::network::{Partition, Side};
use crate::random::Random;
use crate::report::Report;
use crate::schedule::{Action, plan};
use crate::serve::{Replica, serve};
use crate::simulation::{Factory, MemoryLimits, Simulation, Workload};
use crate::world::World;

/// Longest step in milliseconds.
const MAX_STEP: u64 = 256;
/// Time without faults before the last checks, in milliseconds.
const SETTLE: u64 = 3_000;
/// Time in which everything of the clients has to end on the replicas, in milliseconds.
const DRAIN: u64 = 90_000;

/// One run of a simulation.
pub(crate) struct Engine<'a> {
    simulation: &'a Simulation,
    factory: Factory,
    workload: Workload,
    world: Arc<World>,
    replicas: Vec<Running>,
    clients: Vec<Host>,
    /// Process of the task store.
    store: Host,
    events: BTreeMap<(u64, u64), Action>,
    next_event: u64,
    now: u64,
    step: u64,
}

/// Process of a replica, which may be down.
#[derive(Default)]
struct Running {
    host: Option<Host>,
    server: Option<Server>,
    /// Number of its starts.
    starts: u64,
    /// Number of its tokio tasks without clients.
    own_tasks: usize,
    /// Difference of its time of day, which a restart retains.
    skew: i64,
}

impl<'a> Engine<'a> {
    pub(crate) fn new(simulation: &'a Simulation) -> Self {
        let factory = simulation.factory.clone();
        let workload = simulation.workload.clone();
        let mut random = Random::new(simulation.seed, 2);
        let faults = simulation.faults.of_run(&mut random);
        let options = simulation.options.clone();
        let actions = plan(&faults, &options, &mut random);
        let network = Random::new(simulation.seed, 1);
        let world = Arc::new(World::new(options, faults, network));
        let mut engine = Self {
            simulation,
            factory: factory.expect("a simulation needs a server: call `server`"),
            workload: workload.expect("a simulation needs clients: call `clients`"),
            store: start("store", 0, Random::new(simulation.seed, 3), 0),
            world,
            replicas: Vec::new(),
            clients: Vec::new(),
            events: BTreeMap::new(),
            next_event: 0,
            now: 0,
            step: 1,
        };
        for (time, action) in actions {
            engine.schedule(time, action);
        }
        engine
    }

    fn schedule(&mut self, time: u64, action: Action) {
        self.events.insert((time, self.next_event), action);
        self.next_event += 1;
    }

    pub(crate) fn run(mut self) -> Report {
        let options = self.simulation.options.clone();
        #[cfg(feature = "tasks")]
        self.store
            .set_main(crate::store::work(Arc::clone(&self.world)));
        for replica in 0..options.replicas {
            self.replicas.push(Running::default());
            self.boot(replica);
        }
        let workload = self.workload.clone();
        for client in 0..options.clients {
            self.start_client(client, &workload);
        }
        self.run_until(options.time_limit, Self::clients_are_done);
        self.end_faults();
        self.run_until(self.now + SETTLE, |_| false);
        if let Some(afterwards) = self.simulation.afterwards.clone() {
            self.world.log("faults have ended; the last checks begin");
            self.start_client(options.clients, &afterwards);
            self.run_until(self.now + options.time_limit, Self::clients_are_done);
        }
        self.finish()
    }

    fn clients_are_done(&self) -> bool {
        self.clients.iter().all(Host::is_done)
    }

    fn start_client(&mut self, index: usize, workload: &Workload) {
        let seed = self.simulation.seed;
        let stream = 100 + index as u64;
        let mut host = start(
            &format!("client-{index}"),
            self.now,
            Random::new(seed, stream),
            0,
        );
        let client = Client::new(&self.world, index, Random::new(seed, stream + 50));
        let main = host.enter(|| workload(client));
        host.set_main(main.expect("the process has just started"));
        self.clients.push(host);
    }

    /// Runs until `is_done`, or until the time `limit`.
    fn run_until(&mut self, limit: u64, is_done: impl Fn(&Self) -> bool) {
        let can_end = is_done(self) || !self.clients_are_done();
        while self.now < limit {
            if is_done(self) {
                return;
            }
            self.act();
            self.advance(limit);
        }
        if can_end && !self.clients_are_done() {
            let names = self.clients.iter().filter(|host| !host.is_done());
            let names: Vec<_> = names.map(|host| host.clock.name()).collect();
            let names = names.join(", ");
            self.world
                .violation(format!("the work of {names} does not end"));
        }
    }

    /// Performs the actions that are due or requested.
    fn act(&mut self) {
        for action in self.world.take_requests() {
            self.perform(action);
        }
        while let Some(entry) = self.events.first_entry() {
            if entry.key().0 > self.now {
                break;
            }
            let action = entry.remove();
            self.perform(action);
        }
    }

    /// Advances all processes by one step.
    fn advance(&mut self, limit: u64) {
        let mut next = (self.now + self.step).min(limit);
        if let Some(arrival) = self.world.next_arrival(self.now) {
            next = next.min(arrival);
        }
        if let Some(((event, _), _)) = self.events.first_key_value() {
            next = next.min((*event).max(self.now + 1));
        }
        let replicas = self.replicas.iter_mut().filter_map(|it| it.host.as_mut());
        let hosts = std::iter::once(&mut self.store).chain(replicas);
        for host in hosts.chain(&mut self.clients) {
            if let Err(message) = host.step(next) {
                let name = host.clock.name();
                self.world.violation(format!("{name} panicked: {message}"));
            }
        }
        self.now = next;
        self.world.set_engine_time(next);
        self.step = if self.world.take_activity() {
            1
        } else {
            (self.step * 2).min(MAX_STEP)
        };
    }

    fn perform(&mut self, action: Action) {
        match action {
            Action::Kill { replica, down } => {
                self.kill(replica);
                self.world.disturbed_until(self.now + down);
                self.schedule(self.now + down, Action::Boot { replica });
            }
            Action::Close { replica, grace } => {
                self.world.log(format!("replica-{replica} closes"));
                self.world.disturbed_until(self.now + grace + 1_000);
                self.world.network.unlisten(replica, self.now);
                let running = &self.replicas[replica];
                if let (Some(host), Some(server)) = (&running.host, &running.server) {
                    host.enter(|| server.close());
                }
                let down = 100;
                self.schedule(self.now + grace, Action::Kill { replica, down });
            }
            Action::Boot { replica } => self.boot(replica),
            Action::Pause { replica, time } => {
                self.world
                    .log(format!("replica-{replica} pauses for {time} ms"));
                self.world.disturbed_until(self.now + time);
                if let Some(host) = &mut self.replicas[replica].host {
                    host.paused_until = host.paused_until.max(self.now + time);
                }
            }
            Action::Partition {
                client,
                replica,
                time,
            } => {
                let peer = client.map_or("store".to_owned(), |client| format!("client-{client}"));
                self.world.log(format!(
                    "{peer} and replica-{replica} are separated for {time} ms"
                ));
                let until = self.now + time;
                self.world.disturbed_until(until);
                let partition = Partition {
                    client,
                    replica,
                    until,
                };
                self.world.network.partition(&self.world, partition);
            }
            Action::Jump { replica, by } => {
                self.world.log(format!(
                    "the time of day of replica-{replica} jumps by {by} ms"
                ));
                let running = &mut self.replicas[replica];
                running.skew += by;
                if let Some(host) = &running.host {
                    host.clock.shift(by);
                }
            }
        }
    }

    /// Starts a replica that is down.
    fn boot(&mut self, index: usize) {
        let world = &self.world;
        let running = &mut self.replicas[index];
        if running.host.is_some() {
            return;
        }
        running.starts += 1;
        let stream = 1_000 * (index as u64 + 1) + running.starts;
        let random = Random::new(self.simulation.seed, stream);
        let mut host = start(&format!("replica-{index}"), self.now, random, running.skew);
        let replica = Replica {
            index,
            world: Arc::clone(world),
        };
        let built = host.enter(|| {
            world.log("starts");
            (self.factory)(&replica)
        });
        match built {
            Some(Ok(server)) => {
                let listener = world.network.listen(index);
                running.own_tasks = host.tasks();
                running.server = Some(server.clone());
                host.set_main(serve(Arc::clone(world), server, listener));
                running.host = Some(host);
            }
            Some(Err(error)) => world.violation(format!("the server does not start: {error}")),
            None => {}
        }
    }

    /// Ends a replica at once.
    fn kill(&mut self, replica: usize) {
        let running = &mut self.replicas[replica];
        if let Some(host) = running.host.take() {
            self.world.log(format!("replica-{replica} is killed"));
            self.world.network.unlisten(replica, self.now);
            let server = running.server.take();
            self.world
                .network
                .close_all(&self.world, Side::Replica(replica));
            self.end(host, server, |limits| limits.busy);
        }
    }

    /// Ends the process of a replica, and checks the memory that it held.
    fn end(&self, mut host: Host, mut server: Option<Server>, limit: fn(&MemoryLimits) -> i64) {
        let mut end = || {
            host.enter(|| drop(server.take()));
            host.end();
        };
        let Some(limits) = &self.simulation.memory_limits else {
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
    fn end_faults(&mut self) {
        self.world.end_faults();
        self.world.network.heal();
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

    /// Ends the clients, checks what remains of them on the replicas, and ends everything.
    fn finish(mut self) -> Report {
        for (index, client) in self.clients.iter_mut().enumerate() {
            self.world
                .network
                .close_all(&self.world, Side::Client(index));
            client.end();
        }
        self.clients.clear();
        self.run_until(self.now + DRAIN, |_| false);
        for running in std::mem::take(&mut self.replicas) {
            let Running {
                host: Some(host),
                server,
                own_tasks: own,
                ..
            } = running
            else {
                continue;
            };
            let tasks = host.tasks();
            let name = host.clock.name();
            self.world.log(format!("{name} has {tasks} tokio tasks"));
            if tasks > own && !self.simulation.options.background_tasks {
                let more = tasks - own;
                let text = format!("{name} has {more} tokio tasks more than at its start");
                self.world.violation(text);
            }
            self.end(host, server, |limits| limits.idle);
        }
        self.store.end();
        let (transcript, violations) = self.world.take_result();
        Report {
            seed: self.simulation.seed,
            violations,
            transcript,
            elapsed: self.now,
        }
    }
}

fn start(name: &str, now: u64, random: Random, skew: i64) -> Host {
    Host::start(name.to_owned(), now, random, skew).expect("a runtime without I/O can be created")
}
