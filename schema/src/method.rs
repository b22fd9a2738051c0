//! Requests and notifications: what each carries, and which revisions have it.
//!
//! There is no enumeration of all requests: a program dispatches on the method's name and then
//! reads the params as the one type that belongs to it.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::generated::revisions::METHODS;
use crate::{ResultObject, Revision, RevisionSet};

/// A request, named by a type without values.
pub trait Request {
    /// The name on the wire, as in `tools/call`.
    const METHOD: &'static str;
    /// What the request carries; a request without `params` is read as one with `{}`.
    type Params: Serialize + DeserializeOwned + Send + Sync + 'static;
    /// What the request is for.
    type Result: ResultObject + Serialize + DeserializeOwned + Send + Sync + 'static;
    /// The result, or else a request for input where the method allows that.
    type Response: From<Self::Result>
        + ResultObject
        + Serialize
        + DeserializeOwned
        + Send
        + Sync
        + 'static;
}

/// A notification, named by a type without values.
pub trait Notification {
    /// The name on the wire, as in `notifications/progress`.
    const METHOD: &'static str;
    /// What the notification carries; one without `params` is read as one with `{}`.
    type Params: Serialize + DeserializeOwned + Send + Sync + 'static;
}

/// Which way a message goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// From the client to the server.
    ClientToServer,
    /// From the server to the client.
    ServerToClient,
}

/// Whether a message is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MethodKind {
    /// It is answered.
    Request,
    /// It is not.
    Notification,
}

/// What the revisions say about a method that goes one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MethodFacts {
    /// The name on the wire.
    pub name: &'static str,
    /// Which way the message goes.
    pub direction: Direction,
    /// Whether it is answered.
    pub kind: MethodKind,
    /// The revisions in which it is a message of its own.
    pub revisions: RevisionSet,
    /// The revisions in which it travels inside an [`InputRequiredResult`](crate::InputRequiredResult).
    pub embedded: RevisionSet,
}

impl MethodFacts {
    pub(crate) const fn new(
        name: &'static str,
        direction: Direction,
        kind: MethodKind,
        revisions: u8,
        embedded: u8,
    ) -> Self {
        let revisions = RevisionSet::from_bits(revisions);
        Self {
            name,
            direction,
            kind,
            revisions,
            embedded: RevisionSet::from_bits(embedded),
        }
    }
}

/// What the revisions say about the method `name` in one direction.
pub fn facts(name: &str, direction: Direction) -> Option<&'static MethodFacts> {
    let found =
        METHODS.binary_search_by(|facts| (facts.name, facts.direction).cmp(&(name, direction)));
    found.ok().map(|index| &METHODS[index])
}

/// Whether the method `name` is a message of its own in this direction and revision.
///
/// ```
/// use treenail_schema::Revision;
/// use treenail_schema::method::{Direction, exists};
///
/// assert!(exists("ping", Direction::ServerToClient, Revision::V2025_11_25));
/// assert!(!exists("ping", Direction::ServerToClient, Revision::V2026_07_28));
/// ```
pub fn exists(name: &str, direction: Direction, revision: Revision) -> bool {
    facts(name, direction).is_some_and(|facts| facts.revisions.contains(revision))
}

/// All methods in all directions, by name.
pub fn all() -> &'static [MethodFacts] {
    METHODS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_for_binary_search() {
        assert!(METHODS.is_sorted_by_key(|facts| (facts.name, facts.direction)));
    }

    #[test]
    fn sampling_is_a_message_before_and_embedded_in_the_newest_revision() {
        let sampling = facts("sampling/createMessage", Direction::ServerToClient).unwrap();
        assert_eq!(sampling.revisions.last(), Some(Revision::LATEST_LEGACY));
        assert_eq!(sampling.embedded.first(), Some(Revision::LATEST));
        assert_eq!(
            facts("sampling/createMessage", Direction::ClientToServer),
            None
        );
    }
}
