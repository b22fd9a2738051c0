//! Who wants to hear of what changes: the listens of the modern era and the subscriptions of the legacy era alike.
//!
//! One hub knows a listener for each connection that wants to hear of something. An event is not queued: it marks what has
//! changed in the subscriptions that want to know, and the connection writes a notification for each mark when its peer
//! takes one. So a peer that reads nothing costs no more than what it asked for, and misses no change.

mod hub;
mod listener;
mod message;
mod subscriber;
mod subscription;
#[cfg(test)]
mod tests;

pub(crate) use self::hub::Hub;
pub(crate) use self::subscriber::Subscriber;

/// What there are lists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Tools,
    Prompts,
    Resources,
}

impl Kind {
    pub(crate) const ALL: [Self; 3] = [Self::Tools, Self::Prompts, Self::Resources];
}

/// Something that peers may want to hear of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// What a list has is not what it had.
    ListChanged(Kind),
    /// What is read at this URI is not what it was.
    ResourceUpdated(Box<str>),
    /// All of that may have happened.
    Everything,
}

impl From<Kind> for Event {
    fn from(kind: Kind) -> Self {
        Self::ListChanged(kind)
    }
}

/// A set of kinds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Kinds(u8);

impl Kinds {
    pub(crate) fn all() -> Self {
        Kind::ALL.into_iter().fold(Self::default(), Self::with)
    }

    pub(crate) fn with(self, kind: Kind) -> Self {
        Self(self.0 | Self::bit(kind))
    }

    pub(crate) fn contains(self, kind: Kind) -> bool {
        self.0 & Self::bit(kind) != 0
    }

    /// Takes out the first, if there is one.
    pub(crate) fn take(&mut self) -> Option<Kind> {
        let kind = Kind::ALL.into_iter().find(|kind| self.contains(*kind))?;
        self.0 &= !Self::bit(kind);
        Some(kind)
    }

    fn bit(kind: Kind) -> u8 {
        1 << kind as u8
    }
}
