//! Settings of a simulation: the transport, the choice of replicas, and those that its processes need.

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
    /// Each client has a replica of its own, and uses another one only while that is down. For servers with sessions, as in the
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
}
