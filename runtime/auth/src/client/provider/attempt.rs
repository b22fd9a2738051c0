//! Attempts of one request: adds the token, and reacts to its refusal within limits.

use std::sync::Arc;

use http::header::WWW_AUTHENTICATE;
use http::{HeaderMap, HeaderValue, StatusCode};
use treenail_runtime::client::{Challenge, Challenges, HttpAttempt, Refusal};
use treenail_schema::Revision;
use treenail_schema::internal::quoted;

use super::need::{Cause, Need};
use super::server::Server;
use super::step_ups::owned;
use super::tokens::{Tokens, insert_token};
use super::tries::Tries;
use crate::client::settings::StepUp;
use crate::client::source::TokenSource;
use crate::client::store::TokenType;
use crate::{AuthError, Scopes};

/// Error of a server that does not accept the proof of possession.
const INVALID_PROOF: &str = "invalid_dpop_proof";
/// Maximum number of authorizations for one request, step-ups included.
const MAX_AUTHORIZATIONS: u32 = 3;
/// Maximum number of authorizations in a session until the server accepts a token.
const MAX_UNACCEPTED: u32 = 3;
/// The same for requests that may ask no user. They leave one to the requests of the program.
const MAX_UNASKED: u32 = MAX_UNACCEPTED - 1;
/// Maximum number of repetitions because other requests have renewed the tokens.
const MAX_CATCH_UPS: u32 = 2;

/// Adds the token of a source.
pub(super) async fn use_source(
    server: &Server,
    source: &dyn TokenSource,
    request: &mut HttpAttempt<'_>,
    headers: &mut HeaderMap,
) -> Result<(), AuthError> {
    let tries = Tries::of(request);
    // A refusal has obtained the next token already.
    let token = match tries.sent.take() {
        Some(token) => token,
        None => source.token(None).await?,
    };
    insert_token("Bearer", &token, headers)?;
    server.note_source_token(&token);
    tries.sent = Some(token);
    Ok(())
}

/// Asks the source for another token, once.
pub(super) async fn source_refused(
    source: &dyn TokenSource,
    request: &mut HttpAttempt<'_>,
    status: StatusCode,
) -> Result<Refusal, AuthError> {
    // The program may ask its user.
    let may_ask = request.may_ask_user;
    let tries = Tries::of(request);
    if status != StatusCode::UNAUTHORIZED || tries.refreshes > 0 || !may_ask {
        return Ok(Refusal::Final);
    }
    tries.refreshes += 1;
    let token = source.token(tries.sent.as_ref()).await?;
    let is_same = tries
        .sent
        .as_ref()
        .is_some_and(|sent| sent.expose() == token.expose());
    tries.sent = Some(token);
    Ok(if is_same {
        Refusal::Final
    } else {
        Refusal::Retry
    })
}

/// Adds the token in use. Without one, the request is sent without credentials, and its refusal starts the authorization.
pub(super) async fn use_tokens(
    server: &Arc<Server>,
    request: &mut HttpAttempt<'_>,
    headers: &mut HeaderMap,
) -> Result<(), AuthError> {
    let tokens = server.fresh_tokens(request.may_ask_user).await?;
    Tries::of(request).used = tokens.as_ref().map(|tokens| tokens.generation);
    match tokens {
        Some(tokens) => tokens.add_to((request.http_method.as_str(), request.url), headers),
        None => Ok(()),
    }
}

/// Reacts to a response with status 401 or 403.
pub(super) async fn refused(
    server: &Arc<Server>,
    request: &mut HttpAttempt<'_>,
    status: StatusCode,
    response: &HeaderMap,
) -> Result<Refusal, AuthError> {
    server.note_peer(request.peer);
    let values = response.get_all(WWW_AUTHENTICATE);
    let challenges = Challenges::parse(values.iter().map(HeaderValue::as_bytes));
    // Parameters of different challenges are not mixed.
    let schemes = match server.token_type() {
        TokenType::Bearer => ["bearer", "dpop"],
        TokenType::Dpop => ["dpop", "bearer"],
    };
    let mut usable = schemes
        .iter()
        .filter_map(|scheme| challenges.with_scheme(scheme).next());
    let challenge = usable.next();
    let mut need = Need::unauthorized(challenge, request.revision);
    let only = request.only_revision;
    need.accepts_legacy = only.is_none_or(|only| only <= Revision::V2025_03_26);
    let announcement = server.announcement(challenge);
    let (operation, may_ask_user) = (request.operation, request.may_ask_user);
    let limit = if may_ask_user {
        MAX_UNACCEPTED
    } else if server.may_ask_user() {
        0
    } else {
        MAX_UNASKED
    };
    let tries = Tries::of(request);
    need.refused = tries.used;
    let error = challenge.and_then(|challenge| challenge.parameter("error"));
    let is_unauthorized = status == StatusCode::UNAUTHORIZED;
    if let (true, Some(error @ ("use_dpop_nonce" | INVALID_PROOF))) = (is_unauthorized, error) {
        let has_proofs = server.token_type() == TokenType::Dpop;
        if has_proofs && tries.may_repeat_proof() {
            return Ok(Refusal::Retry);
        }
        if error == INVALID_PROOF && tries.used.is_some() {
            return Err(invalid_proof(challenge, has_proofs));
        }
    }
    let is_step_up = status == StatusCode::FORBIDDEN && error == Some("insufficient_scope");
    if is_unauthorized {
        return unauthorized(server, tries, need, limit).await;
    }
    // The function of the program may ask its user.
    let may_step_up = may_ask_user || !matches!(server.settings.step_up, StepUp::Ask(_));
    if !is_step_up || limit == 0 || !may_step_up {
        return Ok(Refusal::Final);
    }
    // Challenges of single operations need not announce the metadata again.
    need.challenge = announcement;
    need.cause = Cause::StepUp(owned(operation));
    step_up(server, tries, need, limit).await
}

/// Reacts to status 401: other tokens, a refresh, then an authorization, if `limit` is not 0; each of them once.
async fn unauthorized(
    server: &Arc<Server>,
    tries: &mut Tries,
    need: Need,
    limit: u32,
) -> Result<Refusal, AuthError> {
    if let Some(current) = &server.tokens().await? {
        if is_renewed(current, tries) {
            return Ok(Refusal::Retry);
        }
        let is_used = tries.used == Some(current.generation);
        // A token that was never accepted gains nothing from a refresh.
        if tries.refreshes == 0 && is_used && server.is_accepted(current.generation) {
            tries.refreshes += 1;
            if server.try_refresh(current, &need).await?.is_some() {
                return Ok(Refusal::Retry);
            }
        }
    }
    if tries.authorizations > 0 || limit == 0 {
        return Ok(Refusal::Final);
    }
    authorize(server, tries, need, limit).await
}

/// Returns true if another request has obtained other tokens meanwhile.
fn is_renewed(current: &Tokens, tries: &mut Tries) -> bool {
    let is_other = tries.used != Some(current.generation);
    let is_renewed = is_other && tries.catch_ups < MAX_CATCH_UPS;
    tries.catch_ups += u32::from(is_renewed);
    is_renewed
}

async fn authorize(
    server: &Arc<Server>,
    tries: &mut Tries,
    need: Need,
    limit: u32,
) -> Result<Refusal, AuthError> {
    if tries.authorizations + tries.step_ups >= MAX_AUTHORIZATIONS {
        return Ok(Refusal::Final);
    }
    tries.authorizations += 1;
    server.authorize(need, limit).await?;
    Ok(Refusal::Retry)
}

/// Reacts to status 403 with the error `insufficient_scope`: an authorization with more scopes, once for each request.
async fn step_up(
    server: &Arc<Server>,
    tries: &mut Tries,
    need: Need,
    limit: u32,
) -> Result<Refusal, AuthError> {
    let Some(current) = server.tokens().await? else {
        return Ok(Refusal::Final);
    };
    let is_asked = match &need.scopes {
        Some(scopes) => current.scopes().is_superset(scopes),
        // The tokens of another request may have them.
        None => true,
    };
    if is_asked && is_renewed(&current, tries) {
        return Ok(Refusal::Retry);
    }
    let required = match &need.scopes {
        Some(scopes) if is_asked => return Err(asked_already(scopes)),
        Some(scopes) => scopes.clone(),
        None => server.unnamed_scopes(&need, &current).await?,
    };
    let total = tries.authorizations + tries.step_ups;
    if tries.step_ups > 0 || total >= MAX_AUTHORIZATIONS {
        let reason = "one step-up for this request has not sufficed";
        return Err(insufficient(&required, reason));
    }
    let need = Need {
        scopes: Some(required.clone()),
        ..need
    };
    if !is_allowed(server, &current, (&need, limit), &required).await? {
        return Err(insufficient(&required, "a step-up was not allowed"));
    }
    tries.step_ups += 1;
    server.authorize(need, limit).await?;
    Ok(Refusal::Retry)
}

/// Returns true if the settings allow a step-up. No one is asked about a step-up that cannot happen.
async fn is_allowed(
    server: &Server,
    current: &Tokens,
    (need, limit): (&Need, u32),
    required: &Scopes,
) -> Result<bool, AuthError> {
    Ok(match &server.settings.step_up {
        StepUp::Auto => true,
        StepUp::Never => false,
        StepUp::Ask(ask) => {
            server.check_possible(need, limit).await?;
            (ask.0)(current.scopes().union(required)).await
        }
    })
}

/// Returns the error of a request whose proofs are refused or missing. Other tokens would not change that.
fn invalid_proof(challenge: Option<&Challenge>, has_proofs: bool) -> AuthError {
    let description = challenge.and_then(|challenge| challenge.parameter("error_description"));
    let description = description.map_or("no description".to_owned(), quoted);
    let text = if has_proofs {
        format!(
            "the server refuses the proof of possession of this client ({description}); check the clock of this computer, or \
             sign out and in again"
        )
    } else {
        format!(
            "the server requires tokens that are bound to a key ({description}); set `OAuth::dpop`"
        )
    };
    AuthError::NotAuthorized(text.into())
}

fn asked_already(required: &Scopes) -> AuthError {
    let text = format!(
        "the server requires the scopes `{required}`, which were asked for already; the user or the authorization server did not \
         grant them. Sign out and in again to be asked for them (`OAuth::logout`, `treenail auth logout`)"
    );
    AuthError::NotAuthorized(text.into())
}

/// Returns the error for an operation whose scopes are not obtained.
pub(super) fn insufficient(required: &Scopes, reason: &str) -> AuthError {
    let text = format!("the server requires the scopes `{required}`, and {reason}");
    AuthError::NotAuthorized(text.into())
}

/// Returns the scopes of a challenge. A value that cannot be parsed counts as absent.
pub(super) fn scopes_of(challenge: &Challenge) -> Option<Scopes> {
    let scopes = challenge.parameter("scope")?.parse().ok();
    scopes.filter(|scopes: &Scopes| !scopes.is_empty())
}
