//! How a client finds out which revision its server speaks, and begins to speak it.

use std::sync::atomic::Ordering;

use serde::Deserialize;
use tokio::time::timeout;
use treenail_schema::{
    DiscoverResult, InitializeRequestParams, InitializeResult, Revision, error_code,
};

use crate::client::protocol::core::Greeter;
use crate::client::protocol::facts::ServerFacts;
use crate::client::protocol::text::{Head, Meta, Round, era_meta};
use crate::client::{ClientError, SessionNotification, SessionRequest};
use crate::wire::RpcError;

/// What is known of the server's revision beforehand.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Expectation {
    /// Nothing.
    #[default]
    Unknown,
    /// It spoke this one the last time.
    Known(Revision),
    /// No other will do; in the legacy era, no newer one.
    Only(Revision),
}

impl Greeter {
    /// Finds out what the server speaks, and begins to speak it.
    pub(super) async fn meet(&self, expected: Expectation) -> Result<ServerFacts, ClientError> {
        match expected {
            Expectation::Unknown => self.probe(Revision::LATEST_LEGACY).await,
            Expectation::Known(revision) if revision.is_modern() => {
                self.probe(Revision::LATEST_LEGACY).await
            }
            Expectation::Known(revision) => match self.initialize(revision).await {
                Err(ClientError::Closed(reason)) => Err(ClientError::Closed(reason)),
                Err(_) => self.probe(Revision::LATEST_LEGACY).await,
                Ok(facts) => Ok(facts),
            },
            Expectation::Only(revision) if revision.is_modern() => {
                match self.discover(revision).await? {
                    Found::Modern(facts) => Ok(*facts),
                    Found::Legacy(_) => Err(ClientError::unsupported(format!(
                        "the server does not speak revision {revision}; it seems to be of the \
                         legacy era, which `initialize` begins"
                    ))),
                }
            }
            Expectation::Only(revision) => self.initialize(revision).await,
        }
    }

    /// Asks the server what it speaks; one that does not understand the question is of the legacy era.
    async fn probe(&self, legacy: Revision) -> Result<ServerFacts, ClientError> {
        match self.discover(Revision::LATEST).await? {
            Found::Modern(facts) => Ok(*facts),
            Found::Legacy(offer) => self.initialize(offer.unwrap_or(legacy)).await,
        }
    }

    async fn discover(&self, revision: Revision) -> Result<Found, ClientError> {
        let meta = era_meta(
            revision,
            self.shows_info.then_some(&self.info),
            self.router.answers.capabilities(),
        )?;
        // Once more with a version that the server has named, and then no more.
        for _ in 0..2 {
            let mut request = self.request("server/discover", &Head::page(None)?, &meta);
            request.revision = Some(revision);
            let answer = timeout(self.limits.probe_timeout, self.session.request(request)).await;
            match answer {
                Ok(Ok(text)) => {
                    self.check_size(&text)?;
                    return choose(&text, revision, meta);
                }
                Ok(Err(ClientError::Refused(error))) => match error.code {
                    error_code::UNSUPPORTED_PROTOCOL_VERSION => check_offer(&error, revision)?,
                    error_code::HEADER_MISMATCH
                    | error_code::MISSING_REQUIRED_CLIENT_CAPABILITY => {
                        return Err(ClientError::Refused(error));
                    }
                    _ => return Ok(Found::Legacy(None)),
                },
                // Who may not come in, and a server that is broken, tells nothing of its revision.
                Ok(Err(ClientError::Http { status, body }))
                    if !(400..500).contains(&status) || matches!(status, 401 | 403 | 429) =>
                {
                    return Err(ClientError::Http { status, body });
                }
                Ok(Err(ClientError::Http { .. } | ClientError::Protocol(_))) | Err(_) => {
                    return Ok(Found::Legacy(None));
                }
                Ok(Err(other)) => return Err(other),
            }
        }
        Err(ClientError::unsupported(format!(
            "the server names revision {revision} and refuses it"
        )))
    }

    /// The handshake of the legacy era.
    pub(super) async fn initialize(&self, offer: Revision) -> Result<ServerFacts, ClientError> {
        let params = InitializeRequestParams::new(
            offer.as_str(),
            self.router.answers.capabilities().clone(),
            self.info.clone(),
        );
        let request = self.request("initialize", &Head::new(&params)?, "");
        let limit = self.limits.request_timeout;
        let answer = timeout(limit, self.session.request(request)).await;
        let text = answer.map_err(|_| ClientError::Timeout(limit))??;
        self.check_size(&text)?;
        let result: InitializeResult = read(&text)?;
        let revision = result.protocol_version.parse().ok();
        let revision = revision.filter(|revision: &Revision| !revision.is_modern());
        let revision = revision.ok_or_else(|| {
            let version = crate::wire::quoted(&result.protocol_version);
            ClientError::unsupported(format!("the server speaks revision {version}"))
        })?;
        self.router.set_modern(false);
        let mut initialized =
            SessionNotification::new("notifications/initialized", "{}".to_owned());
        initialized.revision = Some(revision);
        self.session.notify(initialized).await?;
        Ok(ServerFacts::initialized(revision, result))
    }

    /// Refuses an introduction that is too long.
    fn check_size(&self, text: &str) -> Result<(), ClientError> {
        let most = self.limits.handshake_bytes;
        if text.len() <= most {
            return Ok(());
        }
        Err(ClientError::protocol(format!(
            "the result with which it introduces itself has more than {most} bytes"
        )))
    }

    /// A request that begins a connection, and so is not cancelled.
    fn request(&self, method: &'static str, head: &Head, meta: &str) -> SessionRequest {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let meta = Meta {
            era: meta,
            progress_token: None,
            own: "",
        };
        let params = head.complete(&Round::default(), &meta);
        let mut request = SessionRequest::new(id, method, params);
        request.cancellable = false;
        request
    }
}

/// What a server turned out to be.
enum Found {
    Modern(Box<ServerFacts>),
    /// With the revision to offer, if the server has named one.
    Legacy(Option<Revision>),
}

/// Chooses a revision that both speak.
fn choose(text: &str, revision: Revision, meta: String) -> Result<Found, ClientError> {
    // Servers of the legacy era answer all kinds of things to a request that they do not know.
    let Ok(result) = serde_json::from_str::<DiscoverResult>(text) else {
        return Ok(Found::Legacy(None));
    };
    let versions = || {
        result
            .supported_versions
            .iter()
            .filter_map(|it| it.parse().ok())
    };
    if versions().any(|version: Revision| version == revision) {
        let facts = ServerFacts::discovered(revision, result, meta);
        return Ok(Found::Modern(Box::new(facts)));
    }
    match versions().filter(|version| !version.is_modern()).max() {
        Some(legacy) => Ok(Found::Legacy(Some(legacy))),
        None => Err(no_common(&result.supported_versions)),
    }
}

/// Whether a server that refused a revision has named it as one of its own all the same.
fn check_offer(error: &RpcError, revision: Revision) -> Result<(), ClientError> {
    #[derive(Deserialize)]
    struct Offer {
        supported: Vec<String>,
    }

    let data = error.data.clone().unwrap_or_default();
    let Ok(offer) = serde_json::from_value::<Offer>(data) else {
        return Err(ClientError::Refused(error.clone()));
    };
    if offer
        .supported
        .iter()
        .any(|version| version == revision.as_str())
    {
        return Ok(());
    }
    Err(no_common(&offer.supported))
}

fn no_common(supported: &[String]) -> ClientError {
    let supported = crate::wire::quoted(&supported.join(", "));
    ClientError::unsupported(format!(
        "the server speaks {supported}, and none of these is spoken here"
    ))
}

/// Reads a result as its type.
pub(in crate::client) fn read<T: serde::de::DeserializeOwned>(
    text: &str,
) -> Result<T, ClientError> {
    serde_json::from_str(text)
        .map_err(|error| ClientError::protocol(format!("a result cannot be read: {error}")))
}
