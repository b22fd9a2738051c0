//! Identity of a client: from its handshake, or from the `_meta` of a modern request.

use std::sync::{Arc, Mutex, PoisonError};

use serde::de::DeserializeOwned;
use treenail_schema::{ClientCapabilities, Implementation, LoggingLevel, Revision};

use crate::revision::unsupported;
use crate::wire::{Members, RpcError, as_string, quoted, shortened};

const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// Client of a connection or of one modern request.
#[derive(Debug)]
pub struct Peer {
    revision: Revision,
    capabilities: ClientCapabilities,
    info: Option<Implementation>,
    /// Minimum level of the log messages sent to it. A legacy peer can change it.
    log_level: Mutex<Option<LoggingLevel>>,
    /// Complete `_meta` of the request that it was seen in first, if that is short.
    pub(crate) meta: Box<str>,
}

impl Peer {
    /// Creates a peer from a handshake. Its log level is `info` until it sets another one.
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
            meta: "".into(),
        }
    }

    /// Creates a peer to which no log message is sent: that of a stored call, or of a request without a session.
    pub(crate) fn without_logs(
        revision: Revision,
        capabilities: ClientCapabilities,
        info: Option<Implementation>,
    ) -> Self {
        Self {
            revision,
            capabilities,
            info,
            log_level: Mutex::new(None),
            meta: "".into(),
        }
    }

    /// Sets the minimum level, as requested by `logging/setLevel`.
    pub(crate) fn set_log_level(&self, level: LoggingLevel) {
        *self
            .log_level
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some(level);
    }

    pub(crate) fn wants_logs(&self, level: LoggingLevel) -> bool {
        self.log_level().is_some_and(|minimum| level >= minimum)
    }

    /// Returns the minimum level of the log messages sent to it.
    pub(crate) fn log_level(&self) -> Option<LoggingLevel> {
        *self
            .log_level
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the revision of its messages.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    pub(crate) fn capabilities(&self) -> &ClientCapabilities {
        &self.capabilities
    }

    pub(crate) fn info(&self) -> Option<&Implementation> {
        self.info.as_ref()
    }
}

/// JSON texts of the `_meta` members that identify the client of a modern request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct PeerMeta<'a> {
    version: Option<&'a str>,
    capabilities: Option<&'a str>,
    info: Option<&'a str>,
    log_level: Option<&'a str>,
}

impl<'a> PeerMeta<'a> {
    /// Reads them from the JSON text of `_meta`.
    fn read(meta: &'a str) -> Result<Self, RpcError> {
        let not_an_object = |_| RpcError::invalid_params("`params._meta` is not an object");
        let mut peer_meta = Self::default();
        let mut members = Members::new(meta).map_err(not_an_object)?;
        while let Some((key, text)) = members.next().map_err(not_an_object)? {
            let member = match &*key {
                PROTOCOL_VERSION => &mut peer_meta.version,
                CLIENT_CAPABILITIES => &mut peer_meta.capabilities,
                CLIENT_INFO => &mut peer_meta.info,
                LOG_LEVEL => &mut peer_meta.log_level,
                _ => continue,
            };
            if member.replace(text).is_some() {
                return Err(RpcError::invalid_params(format!(
                    "`params._meta` has {} twice",
                    quoted(&key)
                )));
            }
        }
        Ok(peer_meta)
    }

    /// Returns true if the request declares its revision, and so belongs to the modern era.
    fn is_modern(&self) -> bool {
        self.version.is_some()
    }

    fn to_peer(self) -> Result<Peer, RpcError> {
        let missing = |key| RpcError::invalid_params(format!("`params._meta` has no `{key}`"));
        let version = self.version.ok_or_else(|| missing(PROTOCOL_VERSION))?;
        let capabilities = self
            .capabilities
            .ok_or_else(|| missing(CLIENT_CAPABILITIES))?;
        let version = as_string(version).ok_or_else(|| wrong_type(PROTOCOL_VERSION, "a string"))?;
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
            meta: "".into(),
        })
    }
}

fn wrong_type(key: &str, expected: &str) -> RpcError {
    RpcError::invalid_params(format!("`{key}` in `params._meta` is not {expected}"))
}

/// Parses the JSON text of a log level.
pub(crate) fn read_log_level(text: &str) -> Result<LoggingLevel, RpcError> {
    serde_json::from_str(text).map_err(|_| {
        let known = "debug, info, notice, warning, error, critical, alert, emergency";
        RpcError::invalid_params(format!(
            "unknown log level {}; expected one of {known}",
            quoted(text)
        ))
    })
}

/// Deserializes a member of `_meta`. (serde would also accept an array for a struct.)
fn read_object<T: DeserializeOwned>(key: &str, text: &str) -> Result<T, RpcError> {
    if !text.starts_with('{') {
        return Err(wrong_type(key, "an object"));
    }
    serde_json::from_str(text).map_err(|error| {
        RpcError::invalid_params(format!(
            "`{key}` in `params._meta`: {}",
            shortened(&error.to_string())
        ))
    })
}

/// Cache of the last modern peer of a connection, so that its capabilities are not parsed for each request.
///
/// A cached peer is used only if all texts that identify it are equal byte for byte. Requests stay independent.
#[derive(Clone, Debug, Default)]
pub struct CachedPeer {
    entry: Option<Arc<Entry>>,
}

#[derive(Debug)]
struct Entry {
    version: Box<str>,
    capabilities: Box<str>,
    info: Option<Box<str>>,
    log_level: Option<Box<str>>,
    peer: Arc<Peer>,
}

impl Entry {
    fn matches(&self, peer_meta: &PeerMeta<'_>) -> bool {
        peer_meta.version == Some(&self.version)
            && peer_meta.capabilities == Some(&self.capabilities)
            && peer_meta.info == self.info.as_deref()
            && peer_meta.log_level == self.log_level.as_deref()
    }
}

/// Longest `_meta` that is cached, in bytes.
const MAX_CACHED_META_BYTES: usize = 16 * 1024;

impl CachedPeer {
    /// Returns the `_meta` in which the peer was seen first, as the text of a checked object; empty before.
    pub fn meta(&self) -> &str {
        self.entry.as_ref().map_or("", |known| &*known.peer.meta)
    }

    /// The modern peer identified by the JSON text of a `_meta` object, if it identifies one.
    pub(crate) fn identify(&mut self, meta: &str) -> Result<Option<Arc<Peer>>, RpcError> {
        if let Some(entry) = self
            .entry
            .as_ref()
            .filter(|entry| *entry.peer.meta == *meta)
        {
            return Ok(Some(Arc::clone(&entry.peer)));
        }
        let peer_meta = PeerMeta::read(meta)?;
        if !peer_meta.is_modern() {
            return Ok(None);
        }
        if let Some(entry) = self
            .entry
            .as_ref()
            .filter(|entry| entry.matches(&peer_meta))
        {
            return Ok(Some(Arc::clone(&entry.peer)));
        }
        let mut peer = peer_meta.to_peer()?;
        if meta.len() <= MAX_CACHED_META_BYTES {
            peer.meta = meta.into();
        }
        let peer = Arc::new(peer);
        if let (Some(version), Some(capabilities)) = (peer_meta.version, peer_meta.capabilities) {
            self.entry = (meta.len() <= MAX_CACHED_META_BYTES).then(|| {
                Arc::new(Entry {
                    version: version.into(),
                    capabilities: capabilities.into(),
                    info: peer_meta.info.map(Into::into),
                    log_level: peer_meta.log_level.map(Into::into),
                    peer: Arc::clone(&peer),
                })
            });
        }
        Ok(Some(peer))
    }

    /// Returns true if both hold the same cache entry.
    #[cfg(feature = "http-server")]
    pub fn is_same_entry(&self, other: &Self) -> bool {
        match (&self.entry, &other.entry) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (one, other) => one.is_none() && other.is_none(),
        }
    }
}

/// Returns the protocol version in the JSON text of a `_meta`, unparsed. `None` unless it is an object.
pub fn stated_version(meta: &str) -> Option<std::borrow::Cow<'_, str>> {
    let meta = Some(meta).filter(|meta| meta.starts_with('{'))?;
    PeerMeta::read(meta).ok()?.version.and_then(as_string)
}
