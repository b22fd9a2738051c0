//! Checked configuration of a resource server.

use std::sync::Arc;

use treenail_runtime::{RequiredScopes, Server};
use treenail_schema::internal::nearest;

use super::document::{Document, metadata};
use super::dpop::Dpop;
use super::exchange::Exchanger;
use super::hierarchy::Hierarchy;
use super::public_url::{PublicUrl, check_url};
use super::resource_server::ResourceServer;
use crate::{AuthError, Clock, JwtVerifier, Scopes, Verifier};

/// Checked configuration.
pub(super) struct Settings {
    pub(super) resource: PublicUrl,
    pub(super) aliases: Vec<String>,
    pub(super) issuers: Vec<String>,
    pub(super) verifiers: Vec<Arc<dyn Verifier>>,
    /// All scopes of the server.
    scopes: Scopes,
    pub(super) basic: Scopes,
    pub(super) required: Arc<RequiredScopes>,
    pub(super) hierarchy: Arc<Hierarchy>,
    pub(super) dpop: Option<Dpop>,
    pub(super) exchanger: Option<Arc<Exchanger>>,
    pub(super) clock: Clock,
    pub(super) document: Arc<Document>,
}

impl Settings {
    pub(super) fn new(config: &ResourceServer) -> Result<Self, AuthError> {
        let resource = PublicUrl::parse(&config.resource)?;
        if config.issuers.is_empty() {
            let reason = "the resource server has no authorization server; add one with `issuer(\"https://…\")`";
            return Err(AuthError::invalid(reason));
        }
        for issuer in &config.issuers {
            check_url(issuer, "the issuer")?;
        }
        let scopes = read_scopes(&config.scopes)?;
        let required = subset(&config.required_scopes, &scopes, "`required_scopes` names")?;
        let basic = subset(&config.basic_scopes, &scopes, "`basic_scopes` names")?;
        let basic = basic.union(&required);
        check_number(&basic)?;
        let names = required.iter().map(str::to_owned).collect::<Vec<_>>();
        let document = Arc::new(Document::new(
            &resource,
            &metadata(config, &resource, &basic),
        ));
        let exchange = config.exchange.as_ref();
        let exchanger = exchange.map(|exchange| exchange.build(&resource.url, &config.clock));
        let exchanger = exchanger.transpose()?;
        Ok(Self {
            hierarchy: Arc::new(hierarchy(config, &scopes)?),
            resource,
            aliases: config.aliases.clone(),
            issuers: config.issuers.clone(),
            verifiers: verifiers(config)?,
            scopes,
            basic,
            required: Arc::new(names.into_iter().collect()),
            dpop: config.dpop.clone(),
            exchanger: exchanger.map(Arc::new),
            clock: config.clock.clone(),
            document,
        })
    }

    /// Rejects functions with scopes that are not declared.
    pub(super) fn check_functions(&self, server: &Server) -> Result<(), AuthError> {
        for (function, required) in server.required_scopes() {
            for scope in required.alternatives() {
                check_declared(scope, &self.scopes, &format!("the {function} requires"))?;
            }
            let scopes: Vec<&str> = required.names().collect();
            tracing::debug!(function, scopes = scopes.join(" "), "scopes of a function");
        }
        Ok(())
    }
}

/// Returns the given verifiers, or else one for the JWTs of each issuer.
fn verifiers(config: &ResourceServer) -> Result<Vec<Arc<dyn Verifier>>, AuthError> {
    if !config.verifiers.is_empty() {
        return Ok(config.verifiers.clone());
    }
    let of_issuer = |issuer: &String| {
        let verifier = JwtVerifier::builder(issuer).clock(config.clock.clone());
        Ok(Arc::new(verifier.build()?) as Arc<dyn Verifier>)
    };
    config.issuers.iter().map(of_issuer).collect()
}

fn hierarchy(config: &ResourceServer, scopes: &Scopes) -> Result<Hierarchy, AuthError> {
    let mut implications = Vec::with_capacity(config.implications.len());
    for (scope, included) in &config.implications {
        check_declared(scope, scopes, "`implies` names")?;
        let included = subset(included, scopes, "`implies` names")?;
        implications.push((scope.clone(), included));
    }
    Hierarchy::new(&implications, config.rule.clone())
}

/// Reads scopes of the configuration.
fn read_scopes(texts: &[String]) -> Result<Scopes, AuthError> {
    let mut all = Scopes::default();
    for text in texts {
        let scopes: Scopes = text.parse()?;
        if scopes.contains("offline_access") {
            let reason = "`offline_access` is no scope of a resource server: clients request it from the authorization server; remove it";
            return Err(AuthError::invalid(reason));
        }
        all = all.union(&scopes);
    }
    Ok(all)
}

/// Checks the number of scopes in the metadata and in the challenges. Clients ignore longer lists.
fn check_number(basic: &Scopes) -> Result<(), AuthError> {
    if basic.iter().nth(Scopes::MAX).is_none() {
        return Ok(());
    }
    let reason = format!(
        "`basic_scopes` and `required_scopes` name more than {} scopes, which clients ignore; clients obtain the scopes of a \
         function when they call it",
        Scopes::MAX
    );
    Err(AuthError::invalid(reason))
}

/// Reads scopes that must be declared.
fn subset(texts: &[String], declared: &Scopes, what: &str) -> Result<Scopes, AuthError> {
    let scopes = read_scopes(texts)?;
    scopes
        .iter()
        .try_for_each(|scope| check_declared(scope, declared, what))?;
    Ok(scopes)
}

fn check_declared(scope: &str, declared: &Scopes, what: &str) -> Result<(), AuthError> {
    if declared.contains(scope) {
        return Ok(());
    }
    let hint = match nearest(scope, declared.iter()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "add it to `ResourceServer::scopes`".to_owned(),
    };
    Err(AuthError::invalid(format!(
        "{what} the scope `{}`, which the resource server does not declare; {hint}",
        scope.escape_debug()
    )))
}
