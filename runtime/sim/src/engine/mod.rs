//! One run of a simulation.
//!
//! All processes advance in small steps of virtual time, one after the other. The steps grow while nothing happens, and end at the
//! next arrival or fault.

mod replicas;

use std::collections::BTreeMap;
use std::sync::Arc;

use self::replicas::Running;
use crate::client::Client;
use crate::host::Host;
use crate::network::Side;
use crate::panics;
use crate::random::Random;
use crate::report::Report;
use crate::schedule::{Action, plan};
use crate::simulation::{Factory, Simulation, Workload};
use crate::watchdog::Watchdog;
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
    watchdog: Watchdog,
    /// A process does not reach the end of its step.
    is_stuck: bool,
}

impl<'a> Engine<'a> {
    pub(crate) fn new(simulation: &'a Simulation) -> Self {
        panics::watch();
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
            watchdog: Watchdog::new(simulation.real_time_limit),
            is_stuck: false,
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
            let limit = self.now.saturating_add(options.time_limit);
            self.run_until(limit, Self::clients_are_done);
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
        match host.enter(|| host.clock.catch(|| workload(client))) {
            Some(Ok(main)) => host.set_main(main),
            Some(Err(panic)) => self.world.panicked(&host, &panic),
            None => {}
        }
        self.clients.push(host);
    }

    /// Runs until `is_done`, or until the time `limit`.
    fn run_until(&mut self, limit: u64, is_done: impl Fn(&Self) -> bool) {
        let can_end = is_done(self) || !self.clients_are_done();
        while self.now < limit {
            if is_done(self) || self.is_stuck {
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
        self.act_on_requests();
        while let Some(entry) = self.events.first_entry() {
            if entry.key().0 > self.now {
                break;
            }
            let action = entry.remove();
            self.perform(action);
        }
    }

    /// Performs the actions that clients have requested.
    fn act_on_requests(&mut self) {
        for action in self.world.take_requests() {
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
            if let Err(panic) = host.step(next, &self.watchdog) {
                self.world.panicked(host, &panic);
            }
            for panic in host.clock.take_panics() {
                if !self.simulation.options.panics {
                    self.world.panicked(host, &panic);
                }
            }
            if host.is_stuck {
                self.is_stuck = true;
                self.world.is_stuck(host, self.watchdog.limit());
                return;
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

    /// Returns the text of the violation that a replica has `more` tokio tasks, with the calls that they may belong to.
    fn remaining(&self, name: &str, more: usize) -> String {
        let text = format!("{name} has {more} tokio tasks more than at its start");
        let calls = self.world.last_unanswered(name).join(", ");
        if calls.is_empty() {
            return text;
        }
        format!(
            "{text}; the last calls without a response: {calls}. A call of a legacy session over HTTP runs on after its client, and \
             waits for answers until `Limits::elicitation_timeout`"
        )
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
            let may_remain = self.simulation.options.background_tasks || self.is_stuck;
            if tasks > own && !may_remain {
                self.world.violation(self.remaining(name, tasks - own));
            }
            self.end(host, server, |limits| limits.idle);
        }
        self.store.end();
        let (transcript, violations) = self.world.take_result();
        Report {
            seed: self.simulation.seed,
            violations,
            transcript,
            faults: self.world.faults(),
            elapsed: self.now,
        }
    }
}

fn start(name: &str, now: u64, random: Random, skew: i64) -> Host {
    Host::start(name.to_owned(), now, random, skew).expect("a runtime without I/O can be created")
}
