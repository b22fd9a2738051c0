//! Who is asking: the peer of a handshake, or what a request of the modern era says of its sender.

use std::sync::{Arc, Mutex, PoisonError};

use serde::de::DeserializeOwned;
use treenail_schema::{ClientCapabilities, Implementation, LoggingLevel, Revision};

use crate::revision::unsupported;
use crate::wire::{Members, RpcError, as_string, quoted, shortened};

const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// Who is asking.
#[derive(Debug)]
pub(crate) struct Peer {
    revision: Revision,
    capabilities: ClientCapabilities,
    info: Option<Implementation>,
    /// The least serious log messages that it wants. A legacy peer can change it.
    log_level: Mutex<Option<LoggingLevel>>,
}

impl Peer {
    /// A peer that has had a handshake. Until it says otherwise, it gets log messages of some importance.
    pub(crate) fn legacy(
        revision: Revision,
        capabilities: ClientCapabilities,
        info: Option<Implementation>,
    ) -> Self {
        let log_level = Mutex::new(Some(LoggingLevel::Info));
        Self {
            revision,
            capabilities,
            info,
            log_level,
        }
    }

    /// Takes what `logging/setLevel` asks for.
    pub(crate) fn set_log_level(&self, level: LoggingLevel) {
        *self
            .log_level
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some(level);
    }

    pub(crate) fn wants_logs(&self, level: LoggingLevel) -> bool {
        let least = *self
            .log_level
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        least.is_some_and(|least| level >= least)
    }

    pub(crate) fn revision(&self) -> Revision {
        self.revision
    }

    pub(crate) fn capabilities(&self) -> &ClientCapabilities {
        &self.capabilities
    }

    pub(crate) fn info(&self) -> Option<&Implementation> {
        self.info.as_ref()
    }
}

/// The members of a request's `_meta` by which a request of the modern era says who is asking, as texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Credentials<'a> {
    version: Option<&'a str>,
    capabilities: Option<&'a str>,
    info: Option<&'a str>,
    log_level: Option<&'a str>,
}

impl<'a> Credentials<'a> {
    /// Reads them from the text of `_meta`.
    fn read(meta: &'a str) -> Result<Self, RpcError> {
        let not_an_object = |_| RpcError::invalid_params("`params._meta` is not an object");
        let mut credentials = Self::default();
        let mut members = Members::new(meta).map_err(not_an_object)?;
        while let Some((key, text)) = members.next().map_err(not_an_object)? {
            let member = match &*key {
                PROTOCOL_VERSION => &mut credentials.version,
                CLIENT_CAPABILITIES => &mut credentials.capabilities,
                CLIENT_INFO => &mut credentials.info,
                LOG_LEVEL => &mut credentials.log_level,
                _ => continue,
            };
            if member.replace(text).is_some() {
                return Err(RpcError::invalid_params(format!(
                    "`params._meta` has {} twice",
                    quoted(&key)
                )));
            }
        }
        Ok(credentials)
    }

    /// Whether the request says which revision it speaks, and so belongs to the modern era.
    fn is_modern(&self) -> bool {
        self.version.is_some()
    }

    fn check(&self) -> Result<Peer, RpcError> {
        let missing = |key| RpcError::invalid_params(format!("`params._meta` has no `{key}`"));
        let version = self.version.ok_or_else(|| missing(PROTOCOL_VERSION))?;
        let capabilities = self
            .capabilities
            .ok_or_else(|| missing(CLIENT_CAPABILITIES))?;
        let version = as_string(version).ok_or_else(|| wrong(PROTOCOL_VERSION, "a string"))?;
        let capabilities = read_object(CLIENT_CAPABILITIES, capabilities)?;
        let info = self
            .info
            .map(|info| read_object(CLIENT_INFO, info))
            .transpose()?;
        let revision = version
            .parse()
            .ok()
            .filter(|revision: &Revision| revision.is_modern());
        let revision = revision.ok_or_else(|| unsupported(&version))?;
        let log_level = self.log_level.map(read_log_level).transpose()?;
        Ok(Peer {
            revision,
            capabilities,
            info,
            log_level: Mutex::new(log_level),
        })
    }
}

fn wrong(key: &str, what: &str) -> RpcError {
    RpcError::invalid_params(format!("`{key}` in `params._meta` is not {what}"))
}

/// Reads the text of a log level.
pub(crate) fn read_log_level(text: &str) -> Result<LoggingLevel, RpcError> {
    serde_json::from_str(text).map_err(|_| {
        let known = "debug, info, notice, warning, error, critical, alert, emergency";
        RpcError::invalid_params(format!(
            "unknown log level {}; known are {known}",
            quoted(text)
        ))
    })
}

/// Reads a member of `_meta` as its type. (serde would read an array as a struct too.)
fn read_object<T: DeserializeOwned>(key: &str, text: &str) -> Result<T, RpcError> {
    if !text.starts_with('{') {
        return Err(wrong(key, "an object"));
    }
    serde_json::from_str(text).map_err(|error| {
        RpcError::invalid_params(format!(
            "`{key}` in `params._meta`: {}",
            shortened(&error.to_string())
        ))
    })
}

/// The last modern peer that was seen on a connection, so that its capabilities are not read anew for each request.
///
/// Nothing is taken over from one request to the next: a peer is reused only for texts that are the same to the byte.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownPeer {
    known: Option<Arc<Known>>,
}

#[derive(Debug)]
struct Known {
    /// The whole `_meta` in which the peer was seen first.
    meta: Box<str>,
    version: Box<str>,
    capabilities: Box<str>,
    info: Option<Box<str>>,
    log_level: Option<Box<str>>,
    peer: Arc<Peer>,
}

impl Known {
    fn matches(&self, credentials: &Credentials<'_>) -> bool {
        credentials.version == Some(&self.version)
            && credentials.capabilities == Some(&self.capabilities)
            && credentials.info == self.info.as_deref()
            && credentials.log_level == self.log_level.as_deref()
    }
}

/// The longest `_meta` that is kept for comparison, in bytes.
const KEPT: usize = 16 * 1024;

impl KnownPeer {
    /// The `_meta` in which the peer was seen first, as the text of a checked object; empty before.
    pub(crate) fn meta(&self) -> &str {
        self.known.as_ref().map_or("", |known| &*known.meta)
    }

    /// The modern peer that the text of a `_meta` object tells of, if it tells of one.
    pub(crate) fn identify(&mut self, meta: &str) -> Result<Option<Arc<Peer>>, RpcError> {
        if let Some(known) = self.known.as_ref().filter(|known| *known.meta == *meta) {
            return Ok(Some(Arc::clone(&known.peer)));
        }
        let credentials = Credentials::read(meta)?;
        if !credentials.is_modern() {
            return Ok(None);
        }
        if let Some(known) = self
            .known
            .as_ref()
            .filter(|known| known.matches(&credentials))
        {
            return Ok(Some(Arc::clone(&known.peer)));
        }
        let peer = Arc::new(credentials.check()?);
        if let (Some(version), Some(capabilities)) = (credentials.version, credentials.capabilities)
        {
            self.known = (meta.len() <= KEPT).then(|| {
                Arc::new(Known {
                    meta: meta.into(),
                    version: version.into(),
                    capabilities: capabilities.into(),
                    info: credentials.info.map(Into::into),
                    log_level: credentials.log_level.map(Into::into),
                    peer: Arc::clone(&peer),
                })
            });
        }
        Ok(Some(peer))
    }

    /// Whether both were seen in the same request.
    #[cfg(feature = "http-server")]
    pub(crate) fn is(&self, other: &Self) -> bool {
        match (&self.known, &other.known) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (one, other) => one.is_none() && other.is_none(),
        }
    }
}

/// The revision that the text of a `_meta` object states, as it is written there.
#[cfg(feature = "http-server")]
pub(crate) fn stated_version(meta: &str) -> Option<std::borrow::Cow<'_, str>> {
    Credentials::read(meta).ok()?.version.and_then(as_string)
}
