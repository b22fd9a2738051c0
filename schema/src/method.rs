//! Requests and notifications: their params and results, and the revisions that define them.
//!
//! A program dispatches on the [`Method`] that the name of a message stands for, and then deserializes
//! the params as the type of that method.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::generated::revisions::METHODS;
use crate::{Method, ResultObject, Revision, RevisionSet};

/// A request method, represented by a type without values.
pub trait Request {
    /// The name on the wire, as in `tools/call`.
    const METHOD: &'static str;
    /// The params. A request without `params` is read as one with `{}`.
    type Params: Serialize + DeserializeOwned + Send + Sync + 'static;
    /// The result of a finished request.
    type Result: ResultObject + Serialize + DeserializeOwned + Send + Sync + 'static;
    /// The result, or a request for input if the method allows that.
    type Response: From<Self::Result>
        + ResultObject
        + Serialize
        + DeserializeOwned
        + Send
        + Sync
        + 'static;

    /// Reads a result from its JSON text.
    #[doc(hidden)]
    fn read_result(text: &str) -> serde_json::Result<Self::Result> {
        serde_json::from_str(text)
    }
}

/// A notification method, represented by a type without values.
pub trait Notification {
    /// The name on the wire, as in `notifications/progress`.
    const METHOD: &'static str;
    /// The params. A notification without `params` is read as one with `{}`.
    type Params: Serialize + DeserializeOwned + Send + Sync + 'static;
}

/// Direction of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// From the client to the server.
    ClientToServer,
    /// From the server to the client.
    ServerToClient,
}

/// Kind of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MethodKind {
    /// A message with a response.
    Request,
    /// A message without a response.
    Notification,
}

/// Availability of a method, in one direction, in each revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MethodFacts {
    /// The method.
    pub method: Method,
    /// The name on the wire.
    pub name: &'static str,
    /// The direction of the message.
    pub direction: Direction,
    /// Request or notification.
    pub kind: MethodKind,
    /// Revisions in which it is a message of its own.
    pub revisions: RevisionSet,
    /// Revisions in which it is embedded in an [`InputRequiredResult`](crate::InputRequiredResult).
    pub embedded: RevisionSet,
}

impl MethodFacts {
    pub(crate) const fn new(
        method: Method,
        direction: Direction,
        kind: MethodKind,
        revisions: u8,
        embedded: u8,
    ) -> Self {
        let revisions = RevisionSet::from_bits(revisions);
        Self {
            method,
            name: method.as_str(),
            direction,
            kind,
            revisions,
            embedded: RevisionSet::from_bits(embedded),
        }
    }
}

/// Returns the facts about the method `name` in one direction.
pub fn facts(name: &str, direction: Direction) -> Option<&'static MethodFacts> {
    let found =
        METHODS.binary_search_by(|facts| (facts.name, facts.direction).cmp(&(name, direction)));
    found.ok().map(|index| &METHODS[index])
}

/// Returns `true` if the method `name` is a message of its own in this direction and revision.
///
/// ```
/// use treenail_schema::Revision;
/// use treenail_schema::method::{Direction, exists};
///
/// assert!(exists("ping", Direction::ServerToClient, Revision::V2025_11_25));
/// assert!(!exists("ping", Direction::ServerToClient, Revision::V2026_07_28));
/// ```
pub fn exists(name: &str, direction: Direction, revision: Revision) -> bool {
    Method::from_name(name).is_some_and(|method| method.exists(direction, revision))
}

impl Method {
    /// Returns `true` if the method is a message of its own in this direction and revision.
    pub fn exists(self, direction: Direction, revision: Revision) -> bool {
        REVISIONS[self as usize][direction as usize].contains(revision)
    }
}

/// The revisions of each method in each direction, indexed by [`Method`] and [`Direction`].
static REVISIONS: [[RevisionSet; 2]; Method::ALL.len()] = {
    let mut table = [[RevisionSet::from_bits(0); 2]; Method::ALL.len()];
    let mut index = 0;
    while index < METHODS.len() {
        let facts = &METHODS[index];
        table[facts.method as usize][facts.direction as usize] = facts.revisions;
        index += 1;
    }
    table
};

/// Returns all methods in all directions, sorted by name.
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
    fn each_method_is_found_by_its_name_and_in_its_revisions() {
        for method in Method::ALL {
            assert_eq!(Method::from_name(method.as_str()), Some(*method));
        }
        for facts in METHODS {
            for revision in Revision::ALL {
                let exists = facts.method.exists(facts.direction, revision);
                assert_eq!(exists, facts.revisions.contains(revision), "{facts:?}");
            }
        }
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
