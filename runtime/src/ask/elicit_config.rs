//! Settings of a server for questions to its clients, and the state that the clients carry between rounds.

use std::fmt;
use std::time::Duration;

use crate::ask::binding::scope;
use crate::ask::resumed::{Responses, ResumedState, State, now, read_responses};
use crate::ask::seal::{NO_RANDOM_BYTES, RequestStateKey};
use crate::call::CallTarget;
use crate::limits::Limits;
use crate::log_throttle::LogThrottle;
use crate::wire::{Params, RpcError, as_string, object};

/// Error message for a state that does not fit its request. It hides the reason from an attacker.
pub(super) const INVALID_STATE: &str =
    "`params.requestState` was not made by this server for this request";

/// Settings of a server for questions to its clients.
#[derive(Debug)]
pub(crate) struct ElicitConfig {
    server: Box<str>,
    key: RequestStateKey,
    timeout: Duration,
    rounds: u32,
    state_bytes: usize,
    /// Clients can trigger the events of failures at will.
    throttle: LogThrottle,
}

impl ElicitConfig {
    pub(crate) fn new(server: &str, key: RequestStateKey, limits: &Limits) -> Self {
        Self {
            server: server.into(),
            key,
            timeout: limits.elicitation_timeout,
            rounds: limits.input_rounds,
            state_bytes: limits.request_state_bytes,
            throttle: LogThrottle::default(),
        }
    }

    /// Returns the time in which a client has to answer.
    pub(crate) fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Reads the answers and the state of a further round of a request. The first round has neither.
    pub(crate) fn resume(
        &self,
        target: CallTarget<'_>,
        params: &Params<'_>,
    ) -> Result<Option<ResumedState>, RpcError> {
        let responses = match object("inputResponses", params.input_responses)? {
            Some(responses) => read_responses(responses)?,
            None if params.request_state.is_none() => return Ok(None),
            None => Responses::new(),
        };
        let Some(sealed) = params.request_state else {
            return Ok(Some(ResumedState {
                state: State::default(),
                responses,
            }));
        };
        let sealed = as_string(sealed)
            .ok_or_else(|| RpcError::invalid_params("`params.requestState` is not a string"))?;
        let state = self.key.open(&scope(&self.server, target), &sealed).ok();
        let state: State = state
            .and_then(|state| String::from_utf8(state).ok())
            .and_then(|state| serde_json::from_str(&state).ok())
            .ok_or_else(|| RpcError::invalid_params(INVALID_STATE))?;
        if state.expires <= now() {
            return Err(RpcError::invalid_params(
                "`params.requestState` has expired; make the request again without it",
            ));
        }
        Ok(Some(state.with(responses)))
    }

    /// Seals the state for the next round of a request.
    pub(super) fn seal(
        &self,
        target: CallTarget<'_>,
        mut state: State,
    ) -> Result<String, RpcError> {
        state.rounds += 1;
        let timeout = u64::try_from(self.timeout.as_millis()).unwrap_or(u64::MAX);
        state.expires = now().saturating_add(timeout);
        let name = target.name;
        if state.rounds > self.rounds {
            let problem = format!("it asks in more than {} rounds", self.rounds);
            return Err(self.failed(name, problem));
        }
        let text = serde_json::to_vec(&state).map_err(|error| self.failed(name, error))?;
        if text.len() > self.state_bytes {
            let bound = self.state_bytes;
            let problem = format!("its answers so far take more than {bound} bytes");
            return Err(self.failed(name, problem));
        }
        self.key
            .seal(&scope(&self.server, target), text)
            .map_err(|_| self.failed(name, NO_RANDOM_BYTES))
    }

    #[cold]
    fn failed(&self, target: &str, problem: impl fmt::Display) -> RpcError {
        if self.throttle.is_due() {
            tracing::error!(target, %problem, "a function could not ask its client");
        }
        RpcError::internal(format!("`{target}` could not ask: {problem}"))
    }
}
