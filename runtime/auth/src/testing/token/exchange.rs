//! Token exchange (RFC 8693), also for identity assertions (ID-JAG).

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::issue;
use super::{TokenRequest, invalid_grant};
use crate::Scopes;
use crate::testing::introspect::active;
use crate::testing::keys::{self, read_text, read_time};
use crate::testing::reply::Failure;
use crate::testing::request_values::requested_scopes;
use crate::testing::state::{Grant, random};
use crate::testing::test_client::Credential;

const ACCESS_TOKEN: &str = "urn:ietf:params:oauth:token-type:access_token";
const ID_TOKEN: &str = "urn:ietf:params:oauth:token-type:id_token";
const REFRESH_TOKEN: &str = "urn:ietf:params:oauth:token-type:refresh_token";
const ID_JAG: &str = "urn:ietf:params:oauth:token-type:id-jag";
/// Lifetime of identity assertions.
const LIFETIME: Duration = Duration::from_secs(300);

impl TokenRequest<'_> {
    /// Exchanges a token of a user.
    pub(super) fn exchange(self) -> Result<Value, Failure> {
        if matches!(self.client()?.credential, Credential::None) {
            let reason = "a public client cannot exchange tokens";
            return Err(Failure::new("unauthorized_client", reason));
        }
        let (subject, granted) = self.subject()?;
        match self.parameters.get("requested_token_type") {
            Some(ID_JAG) => self.identity_assertion(&subject),
            None | Some(ACCESS_TOKEN) => self.on_behalf_of(subject, granted.as_ref()),
            Some(_) => {
                let reason = "the requested token type is unknown";
                Err(Failure::new("invalid_request", reason))
            }
        }
    }

    /// Returns the user of the subject token, and its scopes if it is an access token.
    fn subject(&self) -> Result<(String, Option<Scopes>), Failure> {
        let invalid = || invalid_grant("the subject token is invalid or has expired");
        let token = self.parameters.get("subject_token").unwrap_or_default();
        match self.parameters.get("subject_token_type") {
            Some(ACCESS_TOKEN) => {
                let token = active(self.shared, self.state, token).ok_or_else(invalid)?;
                let grant = &token.grant;
                Ok((grant.subject.clone(), Some(grant.scopes.clone())))
            }
            Some(REFRESH_TOKEN) => {
                let token = self.state.refresh_tokens.get(token);
                let token = token.filter(|token| !token.is_revoked && !token.is_used);
                let token = token.ok_or_else(invalid)?;
                Ok((token.grant.subject.clone(), None))
            }
            Some(ID_TOKEN) => {
                let verified = keys::verify(token, &self.state.keys.jwks());
                let (_, claims) = verified.ok_or_else(invalid)?;
                let audience = [self.client()?.id.clone()];
                let expires = read_time(&claims, "exp");
                let is_valid = keys::has_audience(&claims, &audience)
                    && expires.is_some_and(|expires| expires > self.shared.now(self.state));
                let subject = read_text(&claims, "sub").filter(|_| is_valid);
                Ok((subject.ok_or_else(invalid)?.to_owned(), None))
            }
            _ => Err(Failure::new(
                "invalid_request",
                "the type of the subject token is unknown",
            )),
        }
    }

    /// Issues an identity assertion for the authorization server `audience`.
    fn identity_assertion(self, subject: &str) -> Result<Value, Failure> {
        let missing = |description| Failure::new("invalid_request", description);
        let audience = self.parameters.get("audience");
        let audience = audience.ok_or(missing("`audience` is missing"))?;
        let resource = self.parameters.get("resource");
        let resource = resource.ok_or(missing("`resource` is missing"))?;
        let mut claims = issue::common_claims(self.shared, self.state, LIFETIME);
        claims.insert("sub".to_owned(), json!(subject));
        claims.insert("aud".to_owned(), json!(audience));
        claims.insert("resource".to_owned(), json!(resource));
        claims.insert("client_id".to_owned(), json!(self.client()?.id));
        let scope = self.parameters.get("scope");
        if let Some(scope) = scope {
            claims.insert("scope".to_owned(), json!(scope));
        }
        let assertion = self
            .state
            .keys
            .sign("oauth-id-jag+jwt", &Map::new(), &claims);
        let mut document = json!({
            "issued_token_type": ID_JAG,
            "access_token": assertion,
            "token_type": "N_A",
            "expires_in": LIFETIME.as_secs(),
        });
        if let Some(scope) = scope {
            document["scope"] = json!(scope);
        }
        Ok(document)
    }

    /// Issues an access token of the same user for another resource.
    fn on_behalf_of(self, subject: String, granted: Option<&Scopes>) -> Result<Value, Failure> {
        let mut resources: Vec<_> = self.parameters.all("resource").collect();
        resources.extend(self.parameters.all("audience"));
        if resources.is_empty() {
            return Err(Failure::new("invalid_target", "the target is missing"));
        }
        let settings = &self.shared.settings;
        let is_known = |target: &&str| settings.resources.iter().any(|known| known == target);
        if !settings.resources.is_empty() && !resources.iter().all(is_known) {
            return Err(Failure::new("invalid_target", "the target is unknown"));
        }
        let mut scopes = requested_scopes(settings, self.parameters)?;
        if let Some(granted) = granted {
            if scopes.is_empty() {
                scopes = granted.clone();
            } else if !granted.is_superset(&scopes) {
                return Err(Failure::new("invalid_scope", "a scope was not granted"));
            }
        }
        let grant = Grant {
            id: random(),
            client: self.client()?.id.clone(),
            subject,
            scopes,
            resources: resources.into_iter().map(str::to_owned).collect(),
            key: self.key.clone(),
        };
        let mut document = issue::access_token(self.shared, self.state, &grant);
        document["issued_token_type"] = json!(ACCESS_TOKEN);
        Ok(document)
    }
}
