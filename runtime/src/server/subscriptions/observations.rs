//! Observations of requests for subscriptions.

use std::fmt;

use crate::server::observe::{Observation, Outcome};
use crate::server::subscriptions::subscription::ListenId;
use crate::wire::{RpcError, write_error};

/// Observations of the open subscriptions of a connection, by the ids of their requests. A dropped one is that of a cancelled request.
#[derive(Default)]
pub(super) struct Observations(Vec<(ListenId, Box<dyn Observation>)>);

impl fmt::Debug for Observations {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_tuple("Observations")
            .field(&self.0.len())
            .finish()
    }
}

impl Observations {
    pub(super) fn add(&mut self, id: &str, observation: Box<dyn Observation>) {
        self.0.push((ListenId::new(id), observation));
    }

    pub(super) fn cancel(&mut self, id: &str) {
        self.0.retain(|(one, _)| !one.is(id));
    }

    pub(super) fn succeed(&mut self, id: &str) {
        self.end(id, &Outcome::Success);
    }

    /// Ends the observation of a request that has failed, and returns its response.
    pub(super) fn fail(&mut self, id: &str, error: &RpcError) -> Vec<u8> {
        let mut response = Vec::new();
        write_error(&mut response, Some(id), error);
        self.end(id, &Outcome::of_response(&response));
        response
    }

    fn end(&mut self, id: &str, outcome: &Outcome) {
        if let Some(index) = self.0.iter().position(|(one, _)| *one.text == *id) {
            self.0.remove(index).1.end(outcome);
        }
    }
}
