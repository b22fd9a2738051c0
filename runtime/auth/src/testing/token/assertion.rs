//! Grant `jwt-bearer` (RFC 7523): identity assertions (ID-JAG) and tokens of workload platforms.

use serde_json::Value;

use super::issue;
use super::{TokenRequest, invalid_grant};
use crate::testing::keys::{self, Members, read_text, read_time};
use crate::testing::reply::Failure;
use crate::testing::request_values::{requested_resources, requested_scopes};
use crate::testing::state::{Grant, random};

impl TokenRequest<'_> {
    /// Redeems an assertion of a trusted issuer.
    pub(super) fn redeem_assertion(self) -> Result<Value, Failure> {
        let assertion = self.parameters.get("assertion").unwrap_or_default();
        let claims = keys::unverified_claims(assertion);
        let issuer = claims.as_ref().and_then(|claims| read_text(claims, "iss"));
        let trusted = &self.shared.settings.trusted;
        let jwks = issuer.and_then(|issuer| trusted.get(issuer));
        let jwks = jwks.ok_or(invalid_grant("the issuer of the assertion is not trusted"))?;
        let verified = keys::verify(assertion, jwks);
        let (typ, claims) =
            verified.ok_or(invalid_grant("the signature of the assertion is invalid"))?;
        self.check(&claims)?;
        let subject = read_text(&claims, "sub");
        let subject = subject.ok_or(invalid_grant("`sub` is missing"))?.to_owned();
        let grant = match typ.as_deref() {
            Some("oauth-id-jag+jwt") => {
                let used = read_text(&claims, "jti").map(|id| format!("id-jag {id}"));
                if !used.is_some_and(|id| self.state.used_ids.insert(id)) {
                    return Err(invalid_grant(
                        "the assertion has no `jti`, or was used before",
                    ));
                }
                self.identity(&claims, subject)
            }
            None | Some("jwt") => self.workload(subject),
            Some(_) => Err(invalid_grant("the type of the assertion is another one")),
        }?;
        Ok(issue::access_token(self.shared, self.state, &grant))
    }

    fn check(&self, claims: &Members) -> Result<(), Failure> {
        let settings = &self.shared.settings;
        if !keys::has_audience(claims, &[settings.issuer(), settings.url("/token")]) {
            return Err(invalid_grant("`aud` is not this server"));
        }
        let now = self.shared.now(self.state);
        if read_time(claims, "exp").is_none_or(|expires| expires <= now) {
            return Err(invalid_grant("the assertion has expired"));
        }
        Ok(())
    }

    /// Returns the grant of an identity assertion, which is for one client and can be used once.
    fn identity(&self, claims: &Members, subject: String) -> Result<Grant, Failure> {
        let client = self.client()?.id.clone();
        if read_text(claims, "client_id") != Some(&client) {
            return Err(invalid_grant("the assertion is for another client"));
        }
        let resource = read_text(claims, "resource").map(str::to_owned);
        let resources = requested_resources(&self.shared.settings, self.parameters)?;
        if resource.is_none()
            || !resources
                .iter()
                .all(|other| Some(other) == resource.as_ref())
        {
            return Err(invalid_grant("the assertion is for another resource"));
        }
        let allowed = read_text(claims, "scope").unwrap_or_default();
        let allowed = allowed.parse::<crate::Scopes>().unwrap_or_default();
        let requested = requested_scopes(&self.shared.settings, self.parameters)?;
        if !allowed.is_superset(&requested) {
            return Err(Failure::new(
                "invalid_scope",
                "the assertion has not all scopes",
            ));
        }
        Ok(Grant {
            id: random(),
            client,
            subject,
            scopes: if requested.is_empty() {
                allowed
            } else {
                requested
            },
            resources: resource.into_iter().collect(),
            key: self.key.clone(),
        })
    }

    /// Returns the grant of a workload.
    fn workload(&self, subject: String) -> Result<Grant, Failure> {
        let client = self.client.as_ref().map(|client| client.id.clone());
        Ok(Grant {
            id: random(),
            client: client.unwrap_or_else(|| subject.clone()),
            subject,
            scopes: requested_scopes(&self.shared.settings, self.parameters)?,
            resources: requested_resources(&self.shared.settings, self.parameters)?,
            key: self.key.clone(),
        })
    }
}
