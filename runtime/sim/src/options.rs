//! Settings of a simulation: the transport, the choice of replicas, those that its processes need, and the limits of their memory.

/// Transport between the clients and the replicas of a simulation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Transport {
    /// Streamable HTTP: the HTTP client and server of this framework over simulated connections.
    #[default]
    Http,
    /// One byte stream for each session, with a message per line.
    Stream,
}

/// Choice of the replica for a new connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Balance {
    /// Each client has a replica. When that is down, it moves to another one, and stays there. For servers with sessions, as in the
    /// legacy era over HTTP.
    #[default]
    Sticky,
    /// Any replica for each connection.
    Random,
}

/// Settings of a simulation that its processes need.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) transport: Transport,
    pub(crate) balance: Balance,
    pub(crate) replicas: usize,
    pub(crate) clients: usize,
    pub(crate) patience: u64,
    pub(crate) time_limit: u64,
    pub(crate) background_tasks: bool,
    /// Panics outside of the work of clients break no rule.
    pub(crate) panics: bool,
}

/// Calls its argument, and returns by how many bytes this changed the allocated memory.
pub(crate) type MeasureMemory = fn(&mut dyn FnMut()) -> i64;

/// Limits of the memory that a replica holds, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemoryLimits {
    /// When a fault kills it.
    pub(crate) busy: i64,
    /// After all clients have left.
    pub(crate) idle: i64,
    pub(crate) measure: MeasureMemory,
}
