//! Reason of an authorization.

use treenail_runtime::client::Challenge;
use treenail_schema::Revision;

use super::attempt::scopes_of;
use super::planned_scopes::reduced;
use super::step_ups::Operation;
use super::tokens::Tokens;
use crate::Scopes;
use crate::client::settings::Settings;
use crate::client::store::Generation;

/// Cause of an authorization or a refresh.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// The server requires other tokens: status 401.
    Unauthorized,
    /// The tokens lack the scopes of this operation.
    StepUp(Operation),
    /// The tokens expire.
    Renewal,
}

/// Reason of an authorization.
#[derive(Clone, Debug)]
pub(super) struct Need {
    pub(super) cause: Cause,
    /// The challenge that announces the metadata of the resource.
    pub(super) challenge: Option<Challenge>,
    /// Scopes of the challenge.
    pub(super) scopes: Option<Scopes>,
    /// Tokens that do not suffice.
    pub(super) refused: Option<Generation>,
    /// The revision of the refused request.
    pub(super) revision: Option<Revision>,
    /// The client accepts servers of 2025-03-26.
    pub(super) accepts_legacy: bool,
}

impl Need {
    /// Returns the need after a refusal with status 401.
    pub(super) fn unauthorized(challenge: Option<&Challenge>, revision: Option<Revision>) -> Self {
        Self {
            cause: Cause::Unauthorized,
            challenge: challenge.cloned(),
            scopes: challenge.and_then(scopes_of),
            refused: None,
            revision,
            accepts_legacy: true,
        }
    }

    /// Returns the need of tokens that expire. `challenge` is the last one that announced metadata.
    pub(super) fn renewal(tokens: &Tokens, challenge: Option<Challenge>) -> Self {
        Self {
            cause: Cause::Renewal,
            challenge,
            scopes: None,
            refused: Some(tokens.generation),
            revision: None,
            accepts_legacy: true,
        }
    }

    /// Returns the scopes of a step-up, which the authorization must ask for.
    pub(super) fn required(&self) -> Option<&Scopes> {
        let scopes = self.scopes.as_ref();
        scopes.filter(|_| matches!(self.cause, Cause::StepUp(_)))
    }

    /// Returns the scopes that tokens must have to suffice. `None`: any scopes suffice.
    pub(super) fn sufficient_scopes(&self, settings: &Settings) -> Option<Scopes> {
        match (self.required(), &self.scopes) {
            // The authorization for a step-up asks for all of them.
            (Some(required), _) => Some(required.clone()),
            (None, Some(scopes)) => reduced(settings, scopes),
            (None, None) => None,
        }
    }

    /// Returns true if tokens may suffice: others than the refused ones, with those scopes that this client asks for.
    pub(super) fn is_met_by(&self, tokens: &Tokens, settings: &Settings) -> bool {
        self.refused != Some(tokens.generation)
            && self
                .sufficient_scopes(settings)
                .is_none_or(|scopes| tokens.scopes().is_superset(&scopes))
    }
}
