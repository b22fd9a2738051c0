//! Workload identity: a token of the platform in place of a secret (RFC 7523).

use std::sync::{Mutex, PoisonError};

use ring::digest::{SHA256, digest};

use super::workload_token::WorkloadToken;
use super::{JWT_BEARER, check_bound, request_tokens};
use crate::client::grant::{Grant, GrantFuture, GrantRequest, Granted};
use crate::client::registration;
use crate::client::settings::Settings;
use crate::client::token::error::is_refusal;
use crate::client::token::form::Form;
use crate::{AuthError, Secret};

const EXTENSION: &str = "io.modelcontextprotocol/auth/wif";

/// Grant of a program that its platform identifies.
#[derive(Debug)]
pub(in crate::client) struct WorkloadGrant {
    token: WorkloadToken,
    /// Hash of the last refused assertion, which is not sent again.
    refused: Mutex<Option<Vec<u8>>>,
}

impl WorkloadGrant {
    pub(in crate::client) fn new(token: WorkloadToken) -> Self {
        Self {
            token,
            refused: Mutex::default(),
        }
    }

    fn refused(&self) -> std::sync::MutexGuard<'_, Option<Vec<u8>>> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn exchange(&self, request: &GrantRequest<'_>) -> Result<Granted, AuthError> {
        // The issuer is checked before the token of the platform is read.
        let client = registration::configured_client(request).await?;
        let assertion = self.token.read().await?;
        let hash = hash(&request.metadata.issuer, &assertion);
        if self.refused().as_ref() == Some(&hash) {
            let reason = "the authorization server has refused this token of the platform already; it is sent again once the \
                          platform has renewed it";
            return Err(AuthError::NotAuthorized(reason.into()));
        }
        let form = Form::grant(JWT_BEARER).with("assertion", assertion.expose());
        let granted = request_tokens(request, client, form).await;
        if let Err(error) = &granted {
            if is_refusal(error, "invalid_grant") {
                *self.refused() = Some(hash);
            }
        }
        granted
    }
}

impl Grant for WorkloadGrant {
    fn check(&self, settings: &Settings) -> Result<(), AuthError> {
        check_bound(settings, "a token of the platform")
    }

    fn needs_user(&self) -> bool {
        false
    }

    fn grant_types(&self) -> &'static [&'static str] {
        &[JWT_BEARER]
    }

    fn extension(&self) -> Option<&'static str> {
        Some(EXTENSION)
    }

    fn obtain<'a>(&'a self, request: &'a GrantRequest<'a>) -> GrantFuture<'a, Granted> {
        Box::pin(self.exchange(request))
    }
}

fn hash(issuer: &str, assertion: &Secret) -> Vec<u8> {
    let text = Secret::from(format!("{issuer}\0{}", assertion.expose()));
    digest(&SHA256, text.expose().as_bytes()).as_ref().to_vec()
}
