//! Step-ups: their number for each operation, and the scopes that calls wait for.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::Scopes;

/// Maximum number of operations whose step-ups are counted.
const MAX_OPERATIONS: usize = 256;
/// Maximum number of step-ups of an operation until it succeeds. Each of them asks for a scope that those before have not.
const MAX_STEP_UPS: u32 = 3;

/// Method and name of an operation. Both are empty if it is unknown.
pub(super) type Operation = (String, Option<String>);

/// Step-ups of operations that have not succeeded since.
#[derive(Debug, Default)]
pub(super) struct StepUps(HashMap<Operation, Asked>);

#[derive(Debug, Default)]
struct Asked {
    count: u32,
    scopes: Scopes,
}

impl StepUps {
    /// Returns true if a step-up of an operation may ask for scopes.
    pub(super) fn allow(&self, operation: &Operation, scopes: &Scopes) -> bool {
        self.0
            .get(operation)
            .is_none_or(|asked| asked.count < MAX_STEP_UPS && !asked.scopes.is_superset(scopes))
    }

    /// Counts a step-up of an operation.
    pub(super) fn count(&mut self, operation: &Operation, scopes: &Scopes) {
        if self.0.len() >= MAX_OPERATIONS && !self.0.contains_key(operation) {
            self.0.clear();
        }
        let asked = self.0.entry(operation.clone()).or_default();
        asked.count = asked.count.saturating_add(1);
        asked.scopes = asked.scopes.union(scopes);
    }

    /// Forgets the step-ups of an operation that has succeeded.
    pub(super) fn forget(&mut self, operation: Option<(&str, Option<&str>)>) {
        if !self.0.is_empty() {
            self.0.remove(&owned(operation));
        }
    }
}

pub(super) fn owned(operation: Option<(&str, Option<&str>)>) -> Operation {
    operation.map_or_else(Operation::default, |(method, name)| {
        (method.to_owned(), name.map(ToOwned::to_owned))
    })
}

/// Scopes that calls wait for. One authorization asks for all of them, so that parallel calls do not ask the user one by one.
#[derive(Debug, Default)]
pub(super) struct WantedScopes(Mutex<Vec<Weak<Scopes>>>);

impl WantedScopes {
    /// Adds the scopes of a call, which waits for them until it drops the result.
    pub(super) fn add(&self, scopes: Scopes) -> Arc<Scopes> {
        let scopes = Arc::new(scopes);
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|one| one.strong_count() > 0);
        all.push(Arc::downgrade(&scopes));
        scopes
    }

    /// Returns the scopes of all calls that wait.
    pub(super) fn all(&self) -> Scopes {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let waiting = all.iter().filter_map(Weak::upgrade);
        waiting.fold(Scopes::default(), |sum, scopes| sum.union(&scopes))
    }
}
