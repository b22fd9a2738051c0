//! Report about the authorization of a server: the documents on the way to a token, checked without requesting one.

use std::sync::Arc;

use treenail_runtime::client::{Challenge, Challenges};

use super::discover::legacy_headers;
use super::server::Server;
use crate::AuthError;
use crate::fetch::Budget;
use crate::metadata::{AuthorizationServerMetadata, FoundResource, FoundServer, ResourceRequest};

/// Report about the authorization of a server, see [`OAuth::report`](crate::OAuth::report).
#[cfg(feature = "oauth")]
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct AuthorizationReport {
    /// The findings, in the order of a client's requests.
    pub findings: Vec<Finding>,
}

/// Finding of a report.
#[cfg(feature = "oauth")]
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Finding {
    /// The checked part, such as `challenge` or `proof key`.
    pub subject: &'static str,
    /// The result of the check.
    pub level: FindingLevel,
    /// The finding, with the text of the server quoted.
    pub text: String,
    /// The section that requires it, such as `RFC 9728, section 3.3`.
    pub source: &'static str,
}

/// Result of a check.
#[cfg(feature = "oauth")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum FindingLevel {
    /// The requirement is met.
    Met,
    /// A recommendation is not met, or a client needs a setting of its own.
    Warning,
    /// A requirement is violated: clients that conform to the protocol stop here.
    Violated,
}

impl AuthorizationReport {
    /// Returns the worst result.
    pub fn worst(&self) -> FindingLevel {
        let levels = self.findings.iter().map(|finding| finding.level);
        levels.max().unwrap_or(FindingLevel::Met)
    }

    fn add(
        &mut self,
        subject: &'static str,
        level: FindingLevel,
        text: impl Into<String>,
        source: &'static str,
    ) {
        self.findings.push(Finding {
            subject,
            level,
            text: text.into(),
            source,
        });
    }

    fn add_error(&mut self, subject: &'static str, error: &AuthError, source: &'static str) {
        self.add(subject, FindingLevel::Violated, error.to_string(), source);
    }
}

impl Server {
    /// Reports on the documents that lead from the challenges of this server to its authorization servers.
    pub(crate) async fn report(self: &Arc<Self>, challenges: &Challenges) -> AuthorizationReport {
        let mut report = AuthorizationReport::default();
        let bearer = challenges.with_scheme("Bearer").next();
        let challenge = bearer.or_else(|| challenges.with_scheme("DPoP").next());
        report_challenge(&mut report, challenge);
        let (discovery, budget) = (self.report_network().await.discovery, Budget::discovery());
        let request = ResourceRequest {
            server: &self.url,
            challenge,
            revision: None,
            accepts_legacy: true,
            bypass_cache: true,
            known: None,
        };
        let source = "RFC 9728, section 3";
        let found = match discovery.resource(&request, &budget).await {
            Ok(found) => found,
            Err(error) => {
                report.add_error("resource metadata", &error, source);
                return report;
            }
        };
        report_resource(&mut report, &found);
        if found.is_legacy {
            let headers = legacy_headers(None);
            let server = discovery.legacy_server(&self.url, &headers, &budget).await;
            report_server(&mut report, server);
        }
        for issuer in &found.issuers {
            let server = discovery.authorization_server(issuer, &budget).await;
            report_server(&mut report, server);
        }
        report
    }
}

fn report_challenge(report: &mut AuthorizationReport, challenge: Option<&Challenge>) {
    let source = "RFC 9728, section 5.1";
    let Some(challenge) = challenge else {
        let text = "the response has no challenge of the scheme `Bearer`";
        return report.add("challenge", FindingLevel::Violated, text, source);
    };
    let Some(url) = challenge.parameter("resource_metadata") else {
        let text = "the challenge does not name `resource_metadata`; clients look at the well-known places";
        return report.add("challenge", FindingLevel::Warning, text, source);
    };
    let scope = challenge.parameter("scope");
    let scope = scope.map_or_else(String::new, |scope| format!(", scope {scope:?}"));
    let text = format!("names the metadata {url:?}{scope}");
    report.add("challenge", FindingLevel::Met, text, source);
}

fn report_resource(report: &mut AuthorizationReport, found: &FoundResource) {
    let source = "RFC 9728, section 2";
    let Some(metadata) = &found.metadata else {
        let text = "the server publishes none; clients of revision 2025-03-26 use its origin as the authorization server";
        return report.add("resource metadata", FindingLevel::Warning, text, source);
    };
    let issuers = metadata.authorization_servers.join(", ");
    let text = format!(
        "resource {:?}, authorization servers: {issuers:?}",
        metadata.resource
    );
    report.add("resource metadata", FindingLevel::Met, text, source);
    if metadata.dpop_bound_access_tokens_required {
        let text = "the server accepts only tokens that are bound to a DPoP key";
        report.add("token binding", FindingLevel::Warning, text, "RFC 9449");
    }
}

fn report_server(report: &mut AuthorizationReport, server: Result<FoundServer, AuthError>) {
    let source = "RFC 8414, section 3.3";
    let server = match server {
        Ok(server) => server,
        Err(error) => return report.add_error("authorization server", &error, source),
    };
    let metadata = &server.metadata;
    if server.is_assumed {
        let text = "no metadata; the endpoints are those that revision 2025-03-26 assumes";
        return report.add("authorization server", FindingLevel::Warning, text, source);
    }
    let text = format!("issuer {:?} as listed", metadata.issuer);
    report.add("authorization server", FindingLevel::Met, text, source);
    report_endpoints(report, metadata);
    report_proof_key(report, metadata);
    report_registration(report, metadata);
}

fn report_endpoints(report: &mut AuthorizationReport, metadata: &AuthorizationServerMetadata) {
    let source = "RFC 8414, section 2";
    let endpoints = [
        ("authorization_endpoint", &metadata.authorization_endpoint),
        ("token_endpoint", &metadata.token_endpoint),
    ];
    for (name, endpoint) in endpoints {
        let (level, text) = if let Some(url) = endpoint {
            (FindingLevel::Met, format!("`{name}` {url:?}"))
        } else {
            let text = format!("`{name}` is missing; users cannot sign in");
            (FindingLevel::Violated, text)
        };
        report.add("endpoint", level, text, source);
    }
    let (level, text) = if metadata.authorization_response_iss_parameter_supported {
        (FindingLevel::Met, "responses name their issuer")
    } else {
        (
            FindingLevel::Warning,
            "responses do not name their issuer, so a mix-up of servers is not detected",
        )
    };
    report.add("issuer in responses", level, text, "RFC 9207");
}

fn report_proof_key(report: &mut AuthorizationReport, metadata: &AuthorizationServerMetadata) {
    let methods = metadata.code_challenge_methods_supported.as_deref();
    let source = "OAuth 2.1, section 7.5.2";
    match methods {
        Some(methods) if methods.iter().any(|method| method == "S256") => {
            report.add("proof key", FindingLevel::Met, "supports `S256`", source);
        }
        Some(methods) => {
            let text = format!("`code_challenge_methods_supported` lists {methods:?}, not `S256`");
            report.add("proof key", FindingLevel::Violated, text, source);
        }
        None => {
            let text = "`code_challenge_methods_supported` is missing; clients must assume that proof keys are ignored";
            report.add("proof key", FindingLevel::Violated, text, source);
        }
    }
}

fn report_registration(report: &mut AuthorizationReport, metadata: &AuthorizationServerMetadata) {
    let mut ways = Vec::new();
    if metadata.client_id_metadata_document_supported {
        ways.push("client id metadata documents");
    }
    if metadata.registration_endpoint.is_some() {
        ways.push("dynamic registration");
    }
    let (level, text) = if ways.is_empty() {
        let text = "clients need credentials that were registered beforehand";
        (FindingLevel::Warning, text.to_owned())
    } else {
        (FindingLevel::Met, format!("accepts {}", ways.join(" and ")))
    };
    report.add("registration", level, text, "MCP, client registration");
}
