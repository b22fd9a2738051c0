//! How a client finds out which revision its server speaks, and begins to speak it.

use std::future::{Future, pending, poll_fn};
use std::pin::pin;
use std::sync::atomic::Ordering;
use std::task::Poll;
use std::time::Duration;

use tokio::time::timeout;
use treenail_schema::{InitializeRequestParams, InitializeResult, Revision, error_code};

use crate::client::protocol::core::Greeter;
use crate::client::protocol::facts::PeerInfo;
use crate::client::protocol::offer::{Discovered, Offer};
use crate::client::protocol::result::read;
use crate::client::protocol::text::{Head, Meta, Round, era_meta};
use crate::client::{ClientError, SessionFuture, SessionNotification, SessionRequest};

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
    /// It is most likely of the legacy era.
    Legacy,
}

impl Greeter {
    /// Finds out what the server speaks, and begins to speak it.
    pub(super) async fn meet(&self, expected: Expectation) -> Result<PeerInfo, ClientError> {
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
            Expectation::Only(revision) if revision.is_modern() => self.insist(revision).await,
            Expectation::Only(revision) => self.initialize(revision).await,
            Expectation::Legacy => self.handshake(Revision::LATEST_LEGACY).await,
        }
    }

    /// Asks the server which revisions it speaks; one that does not understand the question is of the legacy era.
    async fn probe(&self, legacy: Revision) -> Result<PeerInfo, ClientError> {
        let limit = self.limits.probe_timeout;
        match self.discover(Revision::LATEST, limit).await? {
            Found::Modern(facts) => Ok(*facts),
            Found::Legacy { offer, .. } => self.handshake(offer.unwrap_or(legacy)).await,
            Found::Silent(probe) if self.limits.requests_in_flight < 2 => {
                // It would take the place of the only request that may be sent.
                drop(probe);
                self.handshake(legacy).await
            }
            Found::Silent(probe) => first(probe.facts(), self.handshake(legacy)).await,
        }
    }

    /// Speaks this revision of the modern era or none.
    async fn insist(&self, revision: Revision) -> Result<PeerInfo, ClientError> {
        let limit = self.limits.request_timeout;
        match self.discover(revision, limit).await? {
            Found::Modern(facts) if facts.revision == revision => Ok(*facts),
            Found::Modern(facts) => Err(ClientError::unsupported(format!(
                "the server speaks revision {} and not {revision}",
                facts.revision
            ))),
            Found::Legacy {
                because: Some(error @ ClientError::Http { .. }),
                ..
            } => Err(ClientError::unsupported(format!(
                "revision {revision} is not spoken at this address: {error}; the path may be wrong, or \
                 the server of an older revision"
            ))),
            Found::Legacy {
                because: Some(error),
                ..
            } => Err(error),
            Found::Legacy { .. } => Err(ClientError::unsupported(format!(
                "the server does not speak revision {revision}; it seems to be of the \
                 legacy era, which `initialize` begins"
            ))),
            Found::Silent(_) => Err(ClientError::Timeout(limit)),
        }
    }

    async fn discover(
        &self,
        mut revision: Revision,
        limit: Duration,
    ) -> Result<Found<'_>, ClientError> {
        // Once more with a version that the server has named, and then no more.
        for _ in 0..2 {
            let meta = era_meta(
                revision,
                self.shows_info.then_some(&self.info),
                self.router.answers.capabilities(),
            )?;
            let mut request = self.request("server/discover", &Head::page(None)?, &meta);
            request.revision = Some(revision);
            let mut answer = self.session.request(request);
            let legacy = |because| {
                Ok(Found::Legacy {
                    offer: None,
                    because,
                })
            };
            match timeout(limit, &mut answer).await {
                Ok(Ok(text)) => {
                    self.check_size(&text)?;
                    return Ok(Discovered::read(&text, revision, meta)?.into());
                }
                Ok(Err(ClientError::Refused(error))) => match error.code {
                    error_code::UNSUPPORTED_PROTOCOL_VERSION => match Offer::in_error(&error)? {
                        Offer::Modern(named) => revision = named,
                        Offer::Legacy(named) => return Ok(Discovered::Legacy(Some(named)).into()),
                    },
                    error_code::HEADER_MISMATCH
                    | error_code::MISSING_REQUIRED_CLIENT_CAPABILITY => {
                        return Err(ClientError::Refused(error));
                    }
                    _ => return legacy(None),
                },
                // So do servers of the legacy era answer a request without a session.
                Ok(Err(ClientError::Http { status: 400, .. })) => return legacy(None),
                Ok(Err(error)) if leaves_era_open(&error) => return legacy(Some(error)),
                Ok(Err(error)) => return Err(error),
                Err(_) => {
                    return Ok(Found::Silent(Probe {
                        greeter: self,
                        answer,
                        revision,
                        meta,
                    }));
                }
            }
        }
        Err(ClientError::unsupported(format!(
            "the server names revision {revision} and refuses it"
        )))
    }

    /// The handshake of the legacy era, with a server that may turn out to be of the modern one: such a server refuses the
    /// handshake, and names what it speaks.
    async fn handshake(&self, offer: Revision) -> Result<PeerInfo, ClientError> {
        let refused = match self.initialize(offer).await {
            Err(ClientError::Refused(error))
                if error.code == error_code::UNSUPPORTED_PROTOCOL_VERSION =>
            {
                error
            }
            other => return other,
        };
        match Offer::in_error(&refused)? {
            Offer::Modern(revision) => self.insist(revision).await,
            Offer::Legacy(revision) if revision != offer => self.initialize(revision).await,
            Offer::Legacy(_) => Err(ClientError::Refused(refused)),
        }
    }

    /// The handshake of the legacy era.
    pub(super) async fn initialize(&self, offer: Revision) -> Result<PeerInfo, ClientError> {
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
        Ok(PeerInfo::initialized(revision, result))
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

/// Outcome of asking a server for its revisions.
enum Found<'a> {
    Modern(Box<PeerInfo>),
    Legacy {
        /// The revision to propose, if the server has named one.
        offer: Option<Revision>,
        /// The failure from which this was concluded, where it may have other causes too.
        because: Option<ClientError>,
    },
    /// No answer in time.
    Silent(Probe<'a>),
}

impl From<Discovered> for Found<'_> {
    fn from(discovered: Discovered) -> Self {
        match discovered {
            Discovered::Modern(facts) => Self::Modern(facts),
            Discovered::Legacy(offer) => {
                let because = None;
                Self::Legacy { offer, because }
            }
        }
    }
}

/// A request `server/discover` that has not been answered yet.
struct Probe<'a> {
    greeter: &'a Greeter,
    answer: SessionFuture<'a, String>,
    revision: Revision,
    meta: String,
}

impl Probe<'_> {
    /// Waits for an answer of the modern era, and for ever if another one comes.
    async fn facts(self) -> Result<PeerInfo, ClientError> {
        if let Ok(text) = self.answer.await {
            self.greeter.check_size(&text)?;
            let discovered = Discovered::read(&text, self.revision, self.meta);
            if let Ok(Discovered::Modern(facts)) = discovered {
                return Ok(*facts);
            }
        }
        pending().await
    }
}

/// Whether a failure of the probe leaves it open which era the server is of.
///
/// A server that admits nobody, or is broken, shows nothing of its revision.
fn leaves_era_open(error: &ClientError) -> bool {
    match error {
        ClientError::Http { status, .. } => {
            (400..500).contains(status) && !matches!(status, 401 | 403 | 429)
        }
        ClientError::Protocol(_) => true,
        _ => false,
    }
}

/// Waits for the future that is ready first.
async fn first<T>(one: impl Future<Output = T>, other: impl Future<Output = T>) -> T {
    let (mut one, mut other) = (pin!(one), pin!(other));
    poll_fn(|context| match one.as_mut().poll(context) {
        Poll::Pending => other.as_mut().poll(context),
        ready @ Poll::Ready(_) => ready,
    })
    .await
}
