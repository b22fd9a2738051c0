//! Counters of one request.

use treenail_runtime::client::HttpAttempt;

use crate::Secret;
use crate::client::store::Generation;

/// Counters of one request, in all its attempts.
#[derive(Debug, Default)]
pub(super) struct Tries {
    /// The tokens of the last attempt.
    pub(super) used: Option<Generation>,
    /// The token of the last attempt, from a source.
    pub(super) sent: Option<Secret>,
    pub(super) refreshes: u32,
    pub(super) authorizations: u32,
    pub(super) step_ups: u32,
    pub(super) catch_ups: u32,
    /// The request was repeated with another proof.
    has_repeated_proof: bool,
}

impl Tries {
    pub(super) fn read<'a>(request: &'a HttpAttempt<'_>) -> Option<&'a Self> {
        request.state.as_ref()?.downcast_ref()
    }

    pub(super) fn of<'a>(request: &'a mut HttpAttempt<'_>) -> &'a mut Self {
        if Self::read(request).is_none() {
            request.state = Some(Box::new(Self::default()));
        }
        let state = request
            .state
            .as_mut()
            .and_then(|state| state.downcast_mut());
        state.expect("the value was set above")
    }

    /// Returns true, once, if the tokens can be sent again with another proof, which has the nonce of the response.
    pub(super) fn may_repeat_proof(&mut self) -> bool {
        self.used.is_some() && !std::mem::replace(&mut self.has_repeated_proof, true)
    }
}
