//! Byte limit shared by all lists of a client.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::client::ClientError;

/// Kind of a list.
#[derive(Clone, Copy, Debug)]
pub(super) enum ListKind {
    Tools,
    Prompts,
    Resources,
    Templates,
}

/// Bytes of each list of a client: of the snapshot that was fetched last or is being fetched.
#[derive(Debug, Default)]
pub(super) struct ListSizes([AtomicUsize; 4]);

impl ListSizes {
    fn of(&self, kind: ListKind) -> &AtomicUsize {
        &self.0[kind as usize]
    }

    fn total(&self) -> usize {
        let sizes = self.0.iter().map(|size| size.load(Ordering::Acquire));
        sizes.fold(0, usize::saturating_add)
    }
}

/// Reservation of bytes for a list that is being fetched. Unless it is committed, dropping it restores the previous
/// size.
pub(super) struct SizeReservation<'a> {
    sizes: &'a ListSizes,
    kind: ListKind,
    previous: usize,
    is_committed: bool,
}

impl<'a> SizeReservation<'a> {
    pub(super) fn new(sizes: &'a ListSizes, kind: ListKind) -> Self {
        let previous = sizes.of(kind).swap(0, Ordering::AcqRel);
        Self {
            sizes,
            kind,
            previous,
            is_committed: false,
        }
    }

    /// Resets the size to zero before a list is fetched a second time.
    pub(super) fn reset(&self) {
        self.sizes.of(self.kind).store(0, Ordering::Release);
    }

    /// Makes the new size permanent.
    pub(super) fn commit(mut self) {
        self.is_committed = true;
    }

    /// Adds a page; returns an error if all lists together exceed `max_bytes`.
    pub(super) fn add(&self, bytes: usize, max_bytes: usize) -> Result<(), ClientError> {
        self.sizes.of(self.kind).fetch_add(bytes, Ordering::AcqRel);
        if self.sizes.total() <= max_bytes {
            return Ok(());
        }
        Err(ClientError::protocol(format!(
            "the lists take more than {max_bytes} bytes"
        )))
    }
}

impl Drop for SizeReservation<'_> {
    fn drop(&mut self) {
        if !self.is_committed {
            self.sizes
                .of(self.kind)
                .store(self.previous, Ordering::Release);
        }
    }
}
