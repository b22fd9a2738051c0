//! Subscriptions of both eras: `subscriptions/listen`, and those of a legacy peer.
//!
//! The hub has a listener for each connection with subscriptions. An event is not queued: it marks the changed lists and URIs in
//! the subscriptions that include them. The connection writes a notification for each mark when its peer accepts one. The memory
//! for a peer that reads nothing is therefore bounded by its subscriptions, and no change is lost.

mod admission;
mod history;
mod hub;
mod listener;
mod message;
mod observations;
mod review;
mod subscriber;
mod subscription;
#[cfg(test)]
mod tests;

pub use self::history::Decision;
pub(crate) use self::history::{EditedLists, OpaqueSnapshot};
pub(crate) use self::hub::Hub;
#[cfg(feature = "http-server")]
pub(crate) use self::message::SubscriptionMessage;
pub(crate) use self::review::Audience;
pub use self::review::{Review, Unreviewed};
pub(crate) use self::subscriber::Subscriber;

/// Kind of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Tools,
    Prompts,
    Resources,
}

impl Kind {
    pub(crate) const ALL: [Self; 3] = [Self::Tools, Self::Prompts, Self::Resources];
}

/// Change that peers can subscribe to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// The content of a list has changed.
    ListChanged(Kind),
    /// The resource at this URI has changed.
    ResourceUpdated(Box<str>),
    /// Events may have been lost: all lists and resources may have changed.
    Resync,
}

impl From<Kind> for Event {
    fn from(kind: Kind) -> Self {
        Self::ListChanged(kind)
    }
}

/// Set of kinds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Kinds(u8);

impl Kinds {
    pub(crate) fn all() -> Self {
        Kind::ALL.into_iter().fold(Self::default(), Self::with)
    }

    pub(crate) fn with(self, kind: Kind) -> Self {
        Self(self.0 | Self::bit(kind))
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(crate) fn contains(self, kind: Kind) -> bool {
        self.0 & Self::bit(kind) != 0
    }

    pub(crate) fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Removes and returns the first kind.
    pub(crate) fn take(&mut self) -> Option<Kind> {
        let kind = Kind::ALL.into_iter().find(|kind| self.contains(*kind))?;
        self.0 &= !Self::bit(kind);
        Some(kind)
    }

    fn bit(kind: Kind) -> u8 {
        1 << kind as u8
    }
}

impl FromIterator<Kind> for Kinds {
    fn from_iter<I: IntoIterator<Item = Kind>>(kinds: I) -> Self {
        kinds.into_iter().fold(Self::default(), Self::with)
    }
}
