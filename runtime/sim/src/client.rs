//! Clients: the processes of a workload.

use std::fmt;
use std::io::{self, ErrorKind};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::time::sleep;
use treenail_http_session::{ByteStream, Dial, DialFuture, HttpClientBuilderExt as _, HttpSession};
use treenail_runtime::client::{ClientError, LineSession, McpClient, McpClientBuilder};

use crate::faults::millis;
use crate::network::{Network, Partition};
use crate::options::Transport;
use crate::random::Random;
use crate::recorder::Recorder;
use crate::schedule::Action;
use crate::world::{World, lock};

/// A client of a simulation: a process with its own tokio runtime and clock.
///
/// [`connect`](Self::connect) opens a session with one of the replicas. Time is virtual: [`tokio::time::sleep`] takes none of the
/// real time.
#[derive(Clone)]
pub struct Client {
    world: Arc<World>,
    index: usize,
    random: Arc<Mutex<Random>>,
}

impl fmt::Debug for Client {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Client").field(&self.index).finish()
    }
}

impl Client {
    pub(crate) fn new(world: &Arc<World>, index: usize, random: Random) -> Self {
        Self {
            world: Arc::clone(world),
            index,
            random: Arc::new(Mutex::new(random)),
        }
    }

    /// Returns its number, from 0. The client of [`Simulation::afterwards`](crate::Simulation::afterwards) has the last one.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Returns a builder of a client that connects to a replica. Set handlers and options, then call `build`.
    pub fn builder(&self) -> McpClientBuilder {
        let world = Arc::clone(&self.world);
        let builder = match world.options.transport {
            Transport::Stream => {
                let stream = Network::dial(&world, self.index).stream;
                let (reader, writer) = tokio::io::split(stream);
                McpClient::builder().session(Arc::new(LineSession::new(reader, writer)))
            }
            Transport::Http => {
                let dial = Arc::new(Dialer {
                    world: Arc::clone(&world),
                    client: self.index,
                });
                McpClient::builder().http(HttpSession::builder("http://localhost/mcp").dial(dial))
            }
        };
        let client = self.index;
        builder.wrap_session(move |inner| {
            let world = Arc::clone(&world);
            Arc::new(Recorder {
                inner,
                world,
                client,
            })
        })
    }

    /// Connects to a replica with the default options.
    ///
    /// # Errors
    ///
    /// Those of [`McpClientBuilder::build`]. With faults, any attempt may fail.
    pub async fn connect(&self) -> Result<McpClient, ClientError> {
        self.builder().build().await
    }

    /// Returns a random number below `end` from the seed, or 0 if there is none.
    pub fn random(&self, end: u64) -> u64 {
        lock(&self.random).below(end)
    }

    /// Waits for a random time below `most`.
    pub async fn pause(&self, most: Duration) {
        let wait = self.random(millis(most));
        sleep(Duration::from_millis(wait)).await;
    }

    /// Adds a note to the transcript.
    pub fn log(&self, text: impl AsRef<str>) {
        self.world.log(text);
    }

    /// Returns the virtual time since the start of the simulation.
    pub fn elapsed(&self) -> Duration {
        Duration::from_millis(self.world.now())
    }

    /// Reports a broken rule. The simulation continues, and fails at its end.
    pub fn violation(&self, text: impl Into<String>) {
        self.world.violation(text.into());
    }

    /// Crashes a replica, which starts again after `down`. If it is down already, it starts after the longer time.
    ///
    /// # Panics
    ///
    /// If there is no such replica.
    #[track_caller]
    pub fn kill(&self, replica: usize, down: Duration) {
        self.check_replica(replica);
        let down = millis(down);
        self.world.request(Action::Kill { replica, down });
    }

    /// Pauses a replica.
    ///
    /// # Panics
    ///
    /// If there is no such replica.
    #[track_caller]
    pub fn pause_replica(&self, replica: usize, time: Duration) {
        self.check_replica(replica);
        let time = millis(time);
        self.world.request(Action::Pause { replica, time });
    }

    /// Delays all messages between this client and a replica until `time` has passed.
    ///
    /// # Panics
    ///
    /// If there is no such replica.
    #[track_caller]
    pub fn partition(&self, replica: usize, time: Duration) {
        self.check_replica(replica);
        let until = self.world.now().saturating_add(millis(time));
        self.world.count_fault();
        self.world.disturbed_until(until);
        let partition = Partition {
            client: Some(self.index),
            replica,
            until,
        };
        self.world.network.partition(&self.world, partition);
    }

    #[track_caller]
    fn check_replica(&self, replica: usize) {
        let replicas = self.world.options.replicas;
        assert!(
            replica < replicas,
            "there is no replica {replica}; the simulation has {replicas}"
        );
    }
}

/// Opens the connections of an HTTP client.
struct Dialer {
    world: Arc<World>,
    client: usize,
}

impl fmt::Debug for Dialer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Dialer").finish_non_exhaustive()
    }
}

impl Dial for Dialer {
    fn dial(&self) -> DialFuture {
        let (world, client) = (Arc::clone(&self.world), self.client);
        Box::pin(async move {
            let dialed = Network::dial(&world, client);
            let wait = dialed.at.saturating_sub(world.now());
            sleep(Duration::from_millis(wait)).await;
            if !dialed.is_open {
                return Err(io::Error::from(ErrorKind::ConnectionRefused));
            }
            Ok(Box::new(dialed.stream) as Box<dyn ByteStream>)
        })
    }
}
