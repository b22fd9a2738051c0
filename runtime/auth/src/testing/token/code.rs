//! Grant `authorization_code`.

use serde_json::Value;

use super::issue;
use super::{TokenRequest, invalid_grant};
use crate::jose::sha256_base64url;
use crate::testing::parameters::Parameters;
use crate::testing::reply::Failure;
use crate::testing::request_values::narrowed_resources;
use crate::testing::state::Code;

impl TokenRequest<'_> {
    /// Redeems an authorization code. Its second use revokes the tokens of the first.
    pub(super) fn redeem_code(self) -> Result<Value, Failure> {
        let client = self.client()?.clone();
        let value = self.parameters.get("code").unwrap_or_default();
        let now = self.shared.now(self.state);
        let code = self.state.codes.get_mut(value);
        let code = code.filter(|code| code.grant.client == client.id);
        let code = code.ok_or(invalid_grant("the code is unknown"))?;
        if code.is_used {
            let grant = code.grant.id.clone();
            self.state.revoke_grant(&grant);
            return Err(invalid_grant("the code was used before"));
        }
        code.is_used = true;
        if code.expires <= now {
            return Err(invalid_grant("the code has expired"));
        }
        check_binding(code, self.parameters)?;
        let mut grant = self.state.codes[value].grant.clone();
        if grant.key.is_some() && grant.key != self.key {
            return Err(invalid_grant("the code is bound to another key"));
        }
        let narrowed = narrowed_resources(&grant.resources, self.parameters)?;
        grant.key.clone_from(&self.key);
        // The refresh token is for all resources that were granted.
        let mut document = issue::tokens(self.shared, self.state, &grant, &client);
        if narrowed != grant.resources {
            grant.resources = narrowed;
            let access = issue::access_token(self.shared, self.state, &grant);
            document["access_token"] = access["access_token"].clone();
        }
        Ok(document)
    }
}

/// Checks the redirect URI and the verifier of PKCE.
fn check_binding(code: &Code, parameters: &Parameters) -> Result<(), Failure> {
    let redirect_uri = parameters.get("redirect_uri");
    if redirect_uri.is_some_and(|uri| uri != code.redirect_uri) {
        return Err(invalid_grant("the redirect URI is another one"));
    }
    let verifier = parameters.get("code_verifier").unwrap_or_default();
    if !(43..=128).contains(&verifier.len()) || sha256_base64url(verifier) != code.challenge {
        return Err(invalid_grant("the code verifier does not fit"));
    }
    Ok(())
}
