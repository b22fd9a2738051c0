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

    /// Ends the observation of a request that has failed, and returns its response.
    pub(super) fn fail(&mut self, id: &str, error: &RpcError) -> Vec<u8> {
        let mut response = Vec::new();
        write_error(&mut response, Some(id), error);
        self.end(id, Some(&Outcome::of_response(&response)));
        response
    }

    /// Ends the observation of a request. Without an `outcome`, the request is cancelled.
    pub(super) fn end(&mut self, id: &str, outcome: Option<&Outcome>) {
        if let Some(index) = self.0.iter().position(|(one, _)| one.is(id)) {
            let (_, observation) = self.0.remove(index);
            if let Some(outcome) = outcome {
                observation.end(outcome);
            }
        }
    }
}
