//! Attempts of one request: adds the token, and reacts to its refusal within limits.

use std::sync::Arc;

use http::header::WWW_AUTHENTICATE;
use http::{HeaderMap, HeaderValue, StatusCode};
use treenail_runtime::client::{Challenge, Challenges, HttpAttempt, Refusal};

use super::need::{Cause, Need};
use super::server::Server;
use super::step_ups::owned;
use super::tokens::{Tokens, insert_token};
use crate::client::settings::StepUp;
use crate::client::source::TokenSource;
use crate::client::store::{Generation, TokenType};
use crate::{AuthError, Scopes, Secret};

/// Maximum number of authorizations for one request, step-ups included.
const MAX_AUTHORIZATIONS: u32 = 3;
/// Maximum number of authorizations in a session until the server accepts a token.
const MAX_UNACCEPTED: u32 = 3;
/// The same for requests that may ask no user. They leave one to the requests of the program.
const MAX_UNASKED: u32 = MAX_UNACCEPTED - 1;
/// Maximum number of repetitions because other requests have renewed the tokens.
const MAX_CATCH_UPS: u32 = 2;

/// Counters of one request, in all its attempts.
#[derive(Debug, Default)]
pub(super) struct Tries {
    /// The tokens of the last attempt.
    pub(super) used: Option<Generation>,
    /// The token of the last attempt, from a source.
    sent: Option<Secret>,
    refreshes: u32,
    authorizations: u32,
    step_ups: u32,
    catch_ups: u32,
    /// The request was repeated with a nonce of the server.
    has_nonce: bool,
}

impl Tries {
    pub(super) fn read<'a>(request: &'a HttpAttempt<'_>) -> Option<&'a Self> {
        request.state.as_ref()?.downcast_ref()
    }

    fn of<'a>(request: &'a mut HttpAttempt<'_>) -> &'a mut Self {
        if Self::read(request).is_none() {
            request.state = Some(Box::new(Self::default()));
        }
        let state = request
            .state
            .as_mut()
            .and_then(|state| state.downcast_mut());
        state.expect("the value was set above")
    }

    /// Returns true, once, if a token can be sent again with the nonce that was noted with the response.
    fn may_use_nonce(&mut self) -> bool {
        self.used.is_some() && !std::mem::replace(&mut self.has_nonce, true)
    }
}

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
    let tokens = server.fresh_tokens().await?;
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
    let announcement = server.announcement(challenge);
    let (operation, may_ask_user) = (request.operation, request.may_ask_user);
    let limit = if may_ask_user {
        MAX_UNACCEPTED
    } else if server.asks_user() {
        0
    } else {
        MAX_UNASKED
    };
    let tries = Tries::of(request);
    need.refused = tries.used;
    let error = challenge.and_then(|challenge| challenge.parameter("error"));
    let is_unauthorized = status == StatusCode::UNAUTHORIZED;
    if is_unauthorized && error == Some("use_dpop_nonce") && tries.may_use_nonce() {
        return Ok(Refusal::Retry);
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
    let current = server.tokens().await?;
    if let (Some(current), Some(used)) = (&current, tries.used) {
        if is_renewed(current, used, tries) {
            return Ok(Refusal::Retry);
        }
        // A token that was never accepted gains nothing from a refresh.
        if tries.refreshes == 0 && current.generation == used && server.is_accepted(used) {
            tries.refreshes += 1;
            if server.refresh_refused(current, &need).await? {
                return Ok(Refusal::Retry);
            }
        }
    }
    if tries.authorizations > 0 || limit == 0 {
        return Ok(Refusal::Final);
    }
    authorize(server, tries, need, limit).await
}

/// Returns true if another request has renewed the tokens meanwhile.
fn is_renewed(current: &Tokens, used: Generation, tries: &mut Tries) -> bool {
    let is_renewed = current.generation != used && tries.catch_ups < MAX_CATCH_UPS;
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
    if let Some(used) = tries.used {
        if is_asked && is_renewed(&current, used, tries) {
            return Ok(Refusal::Retry);
        }
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

fn asked_already(required: &Scopes) -> AuthError {
    let text = format!(
        "the server requires the scopes `{required}`, which were asked for already; the user or the authorization server did not \
         grant them"
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
