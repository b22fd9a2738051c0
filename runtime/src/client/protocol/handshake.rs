//! Handshake: negotiation of the protocol revision with the server.

use std::time::Duration;

use treenail_schema::{InitializeRequest, InitializeRequestParams, Revision, error_code};

use crate::client::protocol::discovery::{CommonRevision, Discovery};
use crate::client::protocol::inner::Link;
use crate::client::protocol::meta::Meta;
use crate::client::protocol::params::{Params, RoundParams, era_meta};
use crate::client::protocol::probe::{Found, Probe, suggests_legacy};
use crate::client::protocol::result::read_result;
use crate::client::protocol::server_info::PeerInfo;
use crate::client::timeout::timeout;
use crate::client::{ClientError, SessionNotification, SessionRequest};
use crate::rewrite::member;
use crate::wire::as_string;

/// Expected revision of the server.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Expectation {
    #[default]
    Unknown,
    /// The revision of the last connection to the same server.
    Preferred(Revision),
    /// The only accepted revision; in the legacy era, older ones are accepted too.
    Only(Revision),
    /// Most likely a legacy revision.
    Legacy,
}

impl Expectation {
    /// Returns the only accepted revision, if there is one.
    pub(super) fn only(self) -> Option<Revision> {
        match self {
            Self::Only(revision) => Some(revision),
            _ => None,
        }
    }
}

/// Handshake over one link.
#[derive(Clone, Copy)]
pub(super) struct Handshake<'a> {
    link: &'a Link,
}

impl<'a> Handshake<'a> {
    pub(super) fn new(link: &'a Link) -> Self {
        Self { link }
    }

    /// Negotiates the revision, and performs the legacy handshake if the server needs it.
    pub(super) async fn negotiate(self, expected: Expectation) -> Result<PeerInfo, ClientError> {
        match expected {
            Expectation::Unknown => self.probe(Revision::LATEST_LEGACY).await,
            Expectation::Preferred(revision) if revision.is_modern() => {
                self.probe(Revision::LATEST_LEGACY).await
            }
            Expectation::Preferred(revision) => match self.initialize(revision).await {
                // A probe would fail for the same reason, and might ask for credentials again.
                Err(
                    error @ (ClientError::Unreachable(_)
                    | ClientError::Closed(_)
                    | ClientError::Authorization(_)
                    | ClientError::Unauthorized(_)
                    | ClientError::Invalid(_)),
                ) => Err(error),
                Err(_) => self.probe(Revision::LATEST_LEGACY).await,
                Ok(peer) => Ok(peer),
            },
            Expectation::Only(revision) if revision.is_modern() => {
                self.require_modern(revision).await
            }
            Expectation::Only(revision) => self.propose(revision, revision).await,
            Expectation::Legacy => self.initialize_or_upgrade(Revision::LATEST_LEGACY).await,
        }
    }

    /// Probes the server with `server/discover`. A server that does not know the method is taken for a legacy server.
    async fn probe(self, legacy: Revision) -> Result<PeerInfo, ClientError> {
        let limit = self.link.limits.probe_timeout;
        match self.discover(Revision::LATEST, limit).await? {
            Found::Modern(peer) => Ok(*peer),
            Found::Legacy { revision, .. } => {
                self.initialize_or_upgrade(revision.unwrap_or(legacy)).await
            }
            Found::Silent(probe) if self.link.limits.requests_in_flight < 2 => {
                // The probe occupies the only request slot.
                drop(probe);
                self.initialize_or_upgrade(legacy).await
            }
            Found::Silent(probe) => {
                probe
                    .settle(
                        self.initialize_or_upgrade(legacy),
                        self.link.limits.request_timeout,
                    )
                    .await
            }
        }
    }

    /// Accepts only this modern revision.
    async fn require_modern(self, revision: Revision) -> Result<PeerInfo, ClientError> {
        let limit = self.link.limits.request_timeout;
        match self.discover(revision, limit).await? {
            Found::Modern(peer) if peer.revision == revision => Ok(*peer),
            Found::Modern(peer) => Err(ClientError::unsupported(format!(
                "the server supports revision {} but not {revision}",
                peer.revision
            ))),
            Found::Legacy {
                cause: Some(error @ ClientError::Http { .. }),
                ..
            } => Err(ClientError::unsupported(format!(
                "revision {revision} is not supported at this URL: {error}; the path may be wrong, or the server \
                 may support only older revisions"
            ))),
            Found::Legacy {
                cause: Some(error), ..
            } => Err(error),
            Found::Legacy { .. } => Err(ClientError::unsupported(format!(
                "the server does not support revision {revision}; it seems to support only legacy revisions, \
                 which start with `initialize`"
            ))),
            Found::Silent(_) => Err(ClientError::Timeout(limit)),
        }
    }

    async fn discover(
        self,
        mut revision: Revision,
        limit: Duration,
    ) -> Result<Found<'a>, ClientError> {
        // The second attempt uses a revision that the server has proposed.
        for _ in 0..2 {
            let meta = era_meta(
                revision,
                self.link
                    .sends_client_info
                    .then_some(&self.link.client_info),
                self.link.router.handler.capabilities(),
            )?;
            let mut request = self.request("server/discover", &Params::page(None)?, &meta);
            request.revision = Some(revision);
            let mut answer = self.link.session.request(request);
            let legacy = |cause| {
                Ok(Found::Legacy {
                    revision: None,
                    cause,
                })
            };
            match timeout(limit, &mut answer).await {
                Ok(Ok(text)) => {
                    self.check_size(&text)?;
                    return Ok(Discovery::parse(&text, revision, meta)?.into());
                }
                Ok(Err(ClientError::Refused(error))) => match error.code {
                    error_code::UNSUPPORTED_PROTOCOL_VERSION => {
                        match CommonRevision::from_error(&error)? {
                            CommonRevision::Modern(proposed) => revision = proposed,
                            CommonRevision::Legacy(proposed) => {
                                return Ok(Discovery::Legacy(Some(proposed)).into());
                            }
                        }
                    }
                    error_code::HEADER_MISMATCH
                    | error_code::MISSING_REQUIRED_CLIENT_CAPABILITY => {
                        return Err(ClientError::Refused(error));
                    }
                    _ => return legacy(None),
                },
                // Legacy servers answer a request without a session in this way.
                Ok(Err(ClientError::Http { status: 400, .. })) => return legacy(None),
                Ok(Err(error)) if suggests_legacy(&error) => return legacy(Some(error)),
                Ok(Err(error)) => return Err(error),
                Err(_) => {
                    return Ok(Found::Silent(Probe {
                        handshake: self,
                        answer,
                        revision,
                        meta,
                    }));
                }
            }
        }
        Err(ClientError::unsupported(format!(
            "the server proposes revision {revision} but rejects it"
        )))
    }

    /// Performs the legacy handshake, but continues with a modern revision if the server rejects the handshake and lists one.
    async fn initialize_or_upgrade(self, revision: Revision) -> Result<PeerInfo, ClientError> {
        let rejection = match self.initialize(revision).await {
            Err(ClientError::Refused(error))
                if error.code == error_code::UNSUPPORTED_PROTOCOL_VERSION =>
            {
                error
            }
            other => return other,
        };
        match CommonRevision::from_error(&rejection)? {
            CommonRevision::Modern(modern) => self.require_modern(modern).await,
            CommonRevision::Legacy(other) if other != revision => self.initialize(other).await,
            CommonRevision::Legacy(_) => Err(ClientError::Refused(rejection)),
        }
    }

    /// Performs another handshake with a legacy server. A server that supports the modern era only may have replaced it.
    pub(super) async fn renew(self, revision: Revision) -> Result<PeerInfo, ClientError> {
        match self.link.fixed_revision {
            Some(fixed) => self.propose(fixed, fixed).await,
            None => self.initialize_or_upgrade(revision).await,
        }
    }

    /// Performs the legacy handshake, in which the client proposes `revision`. The server may choose any legacy one.
    async fn initialize(self, revision: Revision) -> Result<PeerInfo, ClientError> {
        self.propose(revision, Revision::LATEST_LEGACY).await
    }

    /// Performs the legacy handshake, in which the client proposes `revision`. The server may choose one up to `newest`.
    async fn propose(self, revision: Revision, newest: Revision) -> Result<PeerInfo, ClientError> {
        let params = InitializeRequestParams::new(
            revision.as_str(),
            self.link.router.handler.capabilities().clone(),
            self.link.client_info.clone(),
        );
        let request = self.request("initialize", &Params::new(&params)?, "");
        let limit = self.link.limits.request_timeout;
        let text = timeout(limit, self.link.session.request(request)).await??;
        self.check_size(&text)?;
        let stated = || {
            let version = member(&text, "protocolVersion").and_then(as_string);
            version.and_then(|version| version.parse().ok())
        };
        let result = read_result::<InitializeRequest>(&text, || stated().unwrap_or(newest))?;
        let revision = result.protocol_version.parse().ok();
        let revision = revision.filter(|revision: &Revision| *revision <= newest);
        let revision = revision.ok_or_else(|| {
            let version = crate::wire::quoted(&result.protocol_version);
            ClientError::unsupported(format!("the server chose revision {version}"))
        })?;
        self.link.router.set_revision(revision);
        let mut initialized =
            SessionNotification::new("notifications/initialized", "{}".to_owned());
        initialized.revision = Some(revision);
        self.link.session.notify(initialized).await?;
        Ok(PeerInfo::initialized(revision, result))
    }

    /// Rejects an oversized result of `server/discover` or `initialize`.
    pub(super) fn check_size(self, text: &str) -> Result<(), ClientError> {
        let limit = self.link.limits.handshake_bytes;
        if text.len() <= limit {
            return Ok(());
        }
        Err(ClientError::protocol(format!(
            "the result of its handshake has more than {limit} bytes"
        )))
    }

    /// Returns a handshake request, which cannot be cancelled.
    fn request(self, method: &'static str, params: &Params, meta: &str) -> SessionRequest {
        let meta = Meta {
            era: meta,
            progress_token: None,
            caller: "",
        };
        let params = params.complete(&RoundParams::default(), &meta);
        let mut request = SessionRequest::new(self.link.next_id(), method, params);
        request.cancellable = false;
        request
    }
}
