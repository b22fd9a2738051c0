//! What a server offers now, and how that is exchanged for something else.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::server::catalog::Catalog;
use crate::server::edit::{Change, Edit, Item, Step};
use crate::server::offer::Offer;
use crate::server::setup::Setup;
use crate::server::subscriptions::Kind;

/// What a server offers now.
///
/// Connections keep the offer that they saw last and compare versions, so that a request costs them no lock.
#[derive(Debug)]
pub(crate) struct Offers {
    version: AtomicU64,
    now: Mutex<Now>,
}

#[derive(Debug)]
struct Now {
    catalog: Catalog,
    offer: Arc<Offer>,
}

impl Offers {
    pub(crate) fn new(catalog: Catalog, setup: &Setup) -> Self {
        let offer = Arc::new(Offer::new(&catalog, None, setup));
        Self {
            version: AtomicU64::new(offer.version),
            now: Mutex::new(Now { catalog, offer }),
        }
    }

    /// What is offered now.
    pub(crate) fn current(&self) -> Arc<Offer> {
        Arc::clone(&self.lock().offer)
    }

    /// Exchanges an offer that is not the current one any more.
    pub(crate) fn refresh(&self, offer: &mut Arc<Offer>) {
        if offer.version != self.version.load(Ordering::Acquire) {
            *offer = self.current();
        }
    }

    /// Makes all changes of `edit`, or none; says what has changed.
    pub(crate) fn apply(&self, edit: Edit, setup: &Setup) -> Result<Vec<Kind>, String> {
        let prepare = |step| Prepared::new(step, setup);
        let steps: Vec<_> = edit
            .steps
            .into_iter()
            .map(prepare)
            .collect::<Result<_, _>>()?;
        // What nobody needs any more is dropped when the lock is free, for it may be something of the user's: what was
        // added lives in `steps`, and what was removed in the old catalog and offer.
        let (mut catalog, mut offer);
        let changes = {
            let mut now = self.lock();
            catalog = now.catalog.clone();
            steps.iter().try_for_each(|step| step.take(&mut catalog))?;
            offer = Arc::new(Offer::new(&catalog, Some(&now.offer), setup));
            std::mem::swap(&mut now.catalog, &mut catalog);
            std::mem::swap(&mut now.offer, &mut offer);
            self.version.store(now.offer.version, Ordering::Release);
            now.offer.changes_since(&offer)
        };
        Ok(changes)
    }

    fn lock(&self) -> MutexGuard<'_, Now> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One change, as far as it can be made ready beforehand.
enum Prepared {
    Add(Catalog),
    Change(Item, Change),
}

impl Prepared {
    fn new(step: Step, setup: &Setup) -> Result<Self, String> {
        Ok(match step {
            Step::Add(parts) => Self::Add(Catalog::new(parts?, setup)?),
            Step::Change(item, change) => Self::Change(item, change),
        })
    }

    fn take(&self, catalog: &mut Catalog) -> Result<(), String> {
        match self {
            Self::Add(more) => catalog.merge(more.clone()),
            Self::Change(item, change) => catalog.change(item, *change),
        }
    }
}
