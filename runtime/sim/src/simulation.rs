//! Builder of a simulation.

use std::fmt;
use std::future::Future;
use std::rc::Rc;
use std::time::Duration;

use tokio::runtime::Handle;
use treenail_http_server::HttpService;
use treenail_runtime::{Result, Server};

use crate::client::Client;
use crate::engine::Engine;
use crate::faults::{Faults, millis};
use crate::host::Main;
use crate::options::{Balance, MemoryLimits, Options, Transport};
use crate::report::Report;
use crate::serve::Replica;

pub(crate) type Factory = Rc<dyn Fn(&Replica) -> Result<Server>>;
/// Function that configures the HTTP service of a replica.
pub(crate) type Configure = Rc<dyn Fn(&Replica, HttpService) -> Result<HttpService>>;
pub(crate) type Workload = Rc<dyn Fn(Client) -> Main>;

/// Simulation of a server with its clients, from one seed.
///
/// Each replica and each client is a process of its own: a tokio runtime with virtual time, all in the thread that calls
/// [`run`](Self::run). Connections between them have random delays and [`Faults`]. A run ends when the work of all clients has ended;
/// it takes milliseconds of real time for each minute of virtual time.
///
/// The simulation checks the messages on all connections: each request gets one response, nothing is sent for a request after its
/// response or its cancellation, progress increases, nothing panics (apart from threads, such as those of `spawn_blocking`), and no tokio task remains on a replica
/// 90 seconds after all clients have left. It also checks [`memory_limits`](Self::memory_limits). The work of the clients makes further assertions.
///
/// ```
/// use std::time::Duration;
///
/// use treenail::prelude::*;
/// use treenail::sim::{Faults, Simulation};
///
/// /// Adds two integers.
/// #[mcp_tool(read_only)]
/// async fn add(a: i64, b: i64) -> i64 {
///     tokio::time::sleep(Duration::from_secs(1)).await;
///     a + b
/// }
///
/// let simulation = Simulation::new(7)
///     .server(|_replica| treenail::server!().tools(tools![add]).build())
///     .replicas(2)
///     .faults(Faults::default())
///     .clients(3, |client| async move {
///         // Faults happen in the first 20 seconds, while clients work.
///         while client.elapsed() < Duration::from_secs(20) {
///             let number = i64::try_from(client.random(100)).unwrap_or(0);
///             client.pause(Duration::from_secs(1)).await;
///             // With faults, a call may fail, but it is never answered wrongly.
///             let Ok(session) = client.connect().await else { continue };
///             if let Ok(sum) = session.call_tool_as::<i64>("add", json!({"a": number, "b": 1})).await {
///                 assert_eq!(sum, number + 1);
///             }
///         }
///     })
///     .afterwards(|client| async move {
///         // Without faults, it works.
///         let session = client.connect().await.expect("the server recovers");
///         session.call_tool("add", json!({"a": 1, "b": 1})).await.expect("the server answers");
///     });
/// let report = simulation.run();
/// report.assert_ok();
/// assert_eq!(report.transcript(), simulation.run().transcript());
/// ```
///
/// # Determinism
///
/// The framework takes its random numbers, the time of day and its timers from the simulation. The code under test must do the same
/// where it matters: `tokio::time` in place of `std::time`, tasks in place of threads, `biased;` in `tokio::select!`, no iteration over
/// a `HashMap`, and [`Client::random`], [`Replica::random`] and [`Replica::system_time`]. Functions marked `blocking` run as tasks.
///
/// Work of `spawn_blocking` and of `tokio::fs` ends in real time. It is repeatable only if no other task of its process is ready meanwhile, which
/// excludes two of them at once.
///
/// Each run calls the function of [`server`](Self::server) again. What it has captured, such as a task store, remains as the run before left it:
/// make a simulation with a new store for each run.
///
/// Virtual time does not advance while work of `spawn_blocking` runs, or while a task is always ready. Such work must end by itself: a run that
/// makes no progress within [`real_time_limit`](Self::real_time_limit) fails. A loop without an `await` is not found.
/// `block_in_place` and the modules `net`, `process` and `signal` of tokio panic in a simulation.
#[derive(Clone)]
#[must_use = "a simulation does nothing until it is run"]
pub struct Simulation {
    pub(crate) seed: u64,
    pub(crate) options: Options,
    pub(crate) faults: Faults,
    pub(crate) factory: Option<Factory>,
    pub(crate) configure: Option<Configure>,
    pub(crate) workload: Option<Workload>,
    pub(crate) afterwards: Option<Workload>,
    pub(crate) memory_limits: Option<MemoryLimits>,
    pub(crate) real_time_limit: Duration,
}

impl fmt::Debug for Simulation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Simulation")
            .field("seed", &self.seed)
            .field("options", &self.options)
            .field("faults", &self.faults)
            .finish_non_exhaustive()
    }
}

impl Simulation {
    /// Creates a simulation with one replica over Streamable HTTP, without faults.
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            options: Options {
                transport: Transport::default(),
                balance: Balance::default(),
                replicas: 1,
                clients: 0,
                patience: 30_000,
                time_limit: 600_000,
                background_tasks: false,
                panics: false,
            },
            faults: Faults::none(),
            factory: None,
            configure: None,
            workload: None,
            afterwards: None,
            memory_limits: None,
            real_time_limit: Duration::from_secs(60),
        }
    }

    /// Sets the server under test. The function runs at each start of a replica, within the runtime of its process.
    pub fn server(mut self, build: impl Fn(&Replica) -> Result<Server> + 'static) -> Self {
        self.factory = Some(Rc::new(build));
        self
    }

    /// Configures the HTTP service of each replica, for example with `authorize` or `without_sessions`. The function runs after that of
    /// [`server`](Self::server). It has no effect on [`Transport::Stream`].
    ///
    /// ```
    /// # use treenail::prelude::*;
    /// # use treenail::sim::Simulation;
    /// # /// Adds two integers.
    /// # #[mcp_tool]
    /// # fn add(a: i64, b: i64) -> i64 { a + b }
    /// let simulation = Simulation::new(7)
    ///     .server(|_replica| treenail::server!().tools(tools![add]).build())
    ///     .http_service(|_replica, service| Ok(service.without_sessions()))
    ///     .clients(1, |client| async move {
    ///         client.connect().await.expect("a server without faults");
    ///     });
    /// simulation.run().assert_ok();
    /// ```
    pub fn http_service(
        mut self,
        configure: impl Fn(&Replica, HttpService) -> Result<HttpService> + 'static,
    ) -> Self {
        self.configure = Some(Rc::new(configure));
        self
    }

    /// Sets the number of replicas, at least 1. Default 1.
    pub fn replicas(mut self, count: usize) -> Self {
        self.options.replicas = count.max(1);
        self
    }

    /// Sets the clients: their number, and the work of each.
    pub fn clients<F, W>(mut self, count: usize, work: F) -> Self
    where
        F: Fn(Client) -> W + 'static,
        W: Future<Output = ()> + 'static,
    {
        self.options.clients = count;
        self.workload = Some(Rc::new(move |client| Box::pin(work(client))));
        self
    }

    /// Sets the work of a further client after the others have ended, all replicas run and there are no more faults. It checks the
    /// outcome.
    pub fn afterwards<F, W>(mut self, work: F) -> Self
    where
        F: Fn(Client) -> W + 'static,
        W: Future<Output = ()> + 'static,
    {
        self.afterwards = Some(Rc::new(move |client| Box::pin(work(client))));
        self
    }

    /// Sets the faults. Default: none.
    pub fn faults(mut self, faults: Faults) -> Self {
        self.faults = faults;
        self
    }

    /// Sets the transport. Default: Streamable HTTP.
    pub fn transport(mut self, transport: Transport) -> Self {
        self.options.transport = transport;
        self
    }

    /// Sets the choice of replicas. Default [`Balance::Sticky`].
    pub fn balance(mut self, balance: Balance) -> Self {
        self.options.balance = balance;
        self
    }

    /// Sets the time after which a request without a response breaks a rule, unless faults explain it. It must be less than the
    /// timeout of the clients, and more than the longest call. Default 30 s.
    pub fn patience(mut self, time: Duration) -> Self {
        self.options.patience = millis(time);
        self
    }

    /// Sets the virtual time after which the run fails if clients still work. Default 10 min.
    pub fn time_limit(mut self, time: Duration) -> Self {
        self.options.time_limit = millis(time);
        self
    }

    /// Allows tokio tasks that run on replicas after all clients have left, such as those of the server's own background work. Calls
    /// that run as tasks of the protocol need no permission, only tokio tasks that they spawn.
    pub fn background_tasks(mut self) -> Self {
        self.options.background_tasks = true;
        self
    }

    /// Allows panics on replicas, and in tasks that clients spawn. A panic in the work of a client itself breaks a rule all the same.
    pub fn allow_panics(mut self) -> Self {
        self.options.panics = true;
        self
    }

    /// Sets the real time after which the run fails if a process makes no progress. Default 60 s.
    pub fn real_time_limit(mut self, time: Duration) -> Self {
        self.real_time_limit = time;
        self
    }

    /// Sets the bytes of memory that a replica may hold: `busy` when a fault kills it, and `idle` at the end of the run, 90 seconds after
    /// all clients have left. That includes sessions of the legacy era over HTTP, which expire later with the default limits, and tasks of
    /// the protocol that still run. Default: no limits.
    ///
    /// The function `measure` calls its argument, and returns by how many bytes this changed the memory that is allocated on the
    /// current thread. It needs an allocator that counts, such as that of the crate `allocation-counter`. State that outlives the
    /// replica does not count. [`check`](crate::check) also finds memory that is never released.
    ///
    /// ```
    /// # use treenail::prelude::*;
    /// # use treenail::sim::Simulation;
    /// # /// Adds two integers.
    /// # #[mcp_tool]
    /// # fn add(a: i64, b: i64) -> i64 { a + b }
    /// let simulation = Simulation::new(7)
    ///     .server(|_replica| treenail::server!().tools(tools![add]).build())
    ///     .clients(1, |client| async move {
    ///         client.connect().await.expect("a server without faults");
    ///     })
    ///     .memory_limits(500_000, 60_000, |run| allocation_counter::measure(run).bytes_current);
    /// simulation.run().assert_ok();
    /// ```
    pub fn memory_limits(
        mut self,
        busy: usize,
        idle: usize,
        measure: fn(&mut dyn FnMut()) -> i64,
    ) -> Self {
        let bytes = |limit| i64::try_from(limit).unwrap_or(i64::MAX);
        self.memory_limits = Some(MemoryLimits {
            busy: bytes(busy),
            idle: bytes(idle),
            measure,
        });
        self
    }

    /// Runs the simulation, and reports what happened.
    ///
    /// # Panics
    ///
    /// If it has no server or no clients, or within a tokio runtime.
    #[track_caller]
    pub fn run(&self) -> Report {
        assert!(
            Handle::try_current().is_err(),
            "a simulation cannot run within a tokio runtime, because each of its processes has its own; use `#[test]` in place of \
             `#[tokio::test]`"
        );
        Engine::new(self).run()
    }
}
