//! Bound of the bytes that all lists of a client take together.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::client::ClientError;

/// The kinds of lists.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Tools,
    Prompts,
    Resources,
    Templates,
}

/// Bytes that the lists of a client take, of each kind the one that was fetched last or is being fetched.
#[derive(Debug, Default)]
pub(super) struct Sizes([AtomicUsize; 4]);

impl Sizes {
    fn of(&self, kind: Kind) -> &AtomicUsize {
        &self.0[kind as usize]
    }

    fn total(&self) -> usize {
        let sizes = self.0.iter().map(|size| size.load(Ordering::Acquire));
        sizes.fold(0, usize::saturating_add)
    }
}

/// The size of a list that is being fetched. Unless it is kept, the size is again as it was before.
pub(super) struct Claim<'a> {
    sizes: &'a Sizes,
    kind: Kind,
    before: usize,
    is_kept: bool,
}

impl<'a> Claim<'a> {
    pub(super) fn new(sizes: &'a Sizes, kind: Kind) -> Self {
        let before = sizes.of(kind).swap(0, Ordering::AcqRel);
        Self {
            sizes,
            kind,
            before,
            is_kept: false,
        }
    }

    /// Starts from nothing, since a list is fetched once more.
    pub(super) fn clear(&self) {
        self.sizes.of(self.kind).store(0, Ordering::Release);
    }

    /// Keeps the size.
    pub(super) fn keep(mut self) {
        self.is_kept = true;
    }

    /// Adds a page; an error if all lists together take more than `most`.
    pub(super) fn add(&self, bytes: usize, most: usize) -> Result<(), ClientError> {
        self.sizes.of(self.kind).fetch_add(bytes, Ordering::AcqRel);
        if self.sizes.total() <= most {
            return Ok(());
        }
        Err(ClientError::protocol(format!(
            "the lists take more than {most} bytes"
        )))
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        if !self.is_kept {
            self.sizes
                .of(self.kind)
                .store(self.before, Ordering::Release);
        }
    }
}
