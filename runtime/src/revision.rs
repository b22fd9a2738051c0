//! The differences between the revisions of the protocol, as far as they are not data: who is asking, in which revision,
//! and the shape in which a peer of that revision gets its results.

use std::sync::{Arc, Mutex, PoisonError};

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use treenail_schema::{
    ClientCapabilities, ContentBlock, Implementation, LoggingLevel, ResultMetaObject, Revision,
    Tool, error_code, field,
};

use crate::wire::{Members, RpcError, as_string, quoted};

/// The key in the `_meta` of a result under which a server of the modern era names itself.
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
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
    serde_json::from_str(text)
        .map_err(|error| RpcError::invalid_params(format!("`{key}` in `params._meta`: {error}")))
}

/// The last modern peer that was seen on a connection, so that its capabilities are not read anew for each request.
///
/// Nothing is taken over from one request to the next: a peer is reused only for texts that are the same to the byte.
#[derive(Debug, Default)]
pub(crate) struct KnownPeer {
    known: Option<Known>,
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
            self.known = (meta.len() <= KEPT).then(|| Known {
                meta: meta.into(),
                version: version.into(),
                capabilities: capabilities.into(),
                info: credentials.info.map(Into::into),
                log_level: credentials.log_level.map(Into::into),
                peer: Arc::clone(&peer),
            });
        }
        Ok(Some(peer))
    }
}

fn unsupported(version: &str) -> RpcError {
    let requested: String = version.chars().take(64).collect();
    let known_legacy = version.parse::<Revision>().is_ok();
    let message = if known_legacy {
        format!("revision {requested} is spoken after an `initialize` handshake only")
    } else {
        format!("revision {} is not supported", quoted(version))
    };
    RpcError::new(error_code::UNSUPPORTED_PROTOCOL_VERSION, message)
        .with_data(json!({ "supported": supported_versions(), "requested": requested }))
}

/// All revisions that are served, the newest first.
pub(crate) fn supported_versions() -> Vec<&'static str> {
    Revision::ALL
        .into_iter()
        .rev()
        .map(Revision::as_str)
        .collect()
}

/// The revision in which the handshake with a client goes on that offered `version`.
pub(crate) fn negotiate(version: &str) -> Revision {
    version
        .parse()
        .ok()
        .filter(|revision: &Revision| !revision.is_modern())
        .unwrap_or(Revision::LATEST_LEGACY)
}

/// The revision that the text of a `_meta` object states, as it is written there.
#[cfg(feature = "http")]
pub(crate) fn stated_version(meta: &str) -> Option<std::borrow::Cow<'_, str>> {
    Credentials::read(meta).ok()?.version.and_then(as_string)
}

/// How results are written for a peer of one revision.
#[derive(Debug)]
pub(crate) struct Style {
    revision: Revision,
    server_info: Value,
    has_structured_content: bool,
    /// What ends a complete result: its `resultType` and its `_meta`.
    result_end: Vec<u8>,
}

impl Style {
    pub(crate) fn new(revision: Revision, server_info: Value) -> Self {
        let mut result_end = Vec::new();
        if revision.is_modern() {
            result_end.extend_from_slice(RESULT_TYPE);
            result_end.extend_from_slice(
                format!(",\"_meta\":{}", json!({ SERVER_INFO: server_info })).as_bytes(),
            );
        }
        let structured = field("CallToolResult", "structuredContent");
        let has_structured_content =
            structured.is_some_and(|field| field.revisions.contains(revision));
        Self {
            revision,
            server_info,
            has_structured_content,
            result_end,
        }
    }

    /// As the newest revision has results, without what belongs to every result there.
    #[cfg(feature = "tower")]
    pub(crate) fn bare() -> Self {
        Self {
            revision: Revision::LATEST,
            server_info: Value::Null,
            has_structured_content: true,
            result_end: Vec::new(),
        }
    }

    pub(crate) fn revision(&self) -> Revision {
        self.revision
    }

    /// What ends a complete result without `_meta` of its own.
    pub(crate) fn result_end(&self) -> &[u8] {
        &self.result_end
    }

    /// The `resultType` of a complete result.
    pub(crate) fn result_type(&self) -> &'static [u8] {
        if self.revision.is_modern() {
            RESULT_TYPE
        } else {
            b""
        }
    }

    /// Adds to the `_meta` of a result what belongs to every result.
    pub(crate) fn complete_meta(&self, meta: &mut ResultMetaObject) {
        if self.revision.is_modern() && meta.server_info.is_none() {
            meta.server_info = serde_json::from_value(self.server_info.clone()).ok();
        }
    }

    /// Whether results can have structured content that is an object.
    pub(crate) fn has_structured_content(&self) -> bool {
        self.has_structured_content
    }

    /// Whether structured content can be any value.
    pub(crate) fn has_structured_values(&self) -> bool {
        self.revision.is_modern()
    }

    /// Whether `value` can be structured content.
    pub(crate) fn allows_structured(&self, value: &Value) -> bool {
        if value.is_object() {
            self.has_structured_content()
        } else {
            self.has_structured_values()
        }
    }

    /// A tool as a peer of this revision may be told of it.
    pub(crate) fn tool(&self, tool: &Tool) -> Tool {
        let mut tool = tool.clone();
        let object =
            |schema: &Map<String, Value>| schema.get("type").is_some_and(|kind| kind == "object");
        let declared = tool
            .output_schema
            .as_ref()
            .is_some_and(|schema| self.has_structured_values() || object(schema));
        if !(declared && self.has_structured_content()) {
            tool.output_schema = None;
        }
        tool
    }
}

/// The error for a resource that does not exist.
pub(crate) fn resource_not_found(uri: &str, message: String, revision: Revision) -> RpcError {
    let code = if revision.is_modern() {
        error_code::INVALID_PARAMS
    } else {
        error_code::RESOURCE_NOT_FOUND
    };
    RpcError::new(code, message).with_data(json!({ "uri": uri }))
}

const RESULT_TYPE: &[u8] = br#","resultType":"complete""#;

/// Content blocks as a peer of `revision` knows them: a kind of block that came later becomes a text.
pub(crate) fn speak_content(
    mut content: Vec<ContentBlock>,
    revision: Revision,
) -> Vec<ContentBlock> {
    for block in &mut content {
        speak_block(block, revision);
    }
    content
}

/// As [`speak_content`], for one block.
pub(crate) fn speak_block(block: &mut ContentBlock, revision: Revision) {
    if block.since() > revision {
        *block = ContentBlock::text(match &*block {
            ContentBlock::Audio(audio) => format!(
                "[audio of type {}, which this client cannot take]",
                audio.mime_type
            ),
            ContentBlock::ResourceLink(link) => format!("{}: {}", link.name, link.uri),
            _ => "[content of a kind that this client cannot take]".to_owned(),
        });
    }
}
