//! Calls as records contain them, and the format of their results.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use treenail_schema::{ClientCapabilities, Implementation, Revision};

use crate::call::OwnedCall;
use crate::extensions::{Extensions, Principal};
use crate::result_writer::ResultWriter;
use crate::revision::Placement;
use crate::rewrite::{member, rewrite};
use crate::scope::{Access, Authority, RequiredScopes};
use crate::server::Server;
use crate::task::ToolFacts;
use crate::tool::shape::Shape;
use crate::wire::RpcError;

/// Call as a record contains it: all that is needed to run its function again.
#[derive(Clone, Serialize, Deserialize)]
pub struct StoredCall {
    /// The name of the tool.
    pub tool: String,
    /// The arguments, as received.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Box<RawValue>>,
    /// The `_meta` of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Box<RawValue>>,
    /// The id of the request.
    pub id: Box<RawValue>,
    /// The principal of the caller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub principal: Option<String>,
    /// The scopes that were granted, with those that they imply. `None` if the request was not authorized.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scopes: Option<BTreeSet<String>>,
    /// The revision of the client.
    pub revision: String,
    /// The capabilities of the client.
    #[serde(default)]
    pub capabilities: ClientCapabilities,
    /// The name and version of the client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub info: Option<Implementation>,
    /// Set if the results of the tool are values, which older revisions receive within an object.
    #[serde(default)]
    values: bool,
}

/// Omits the arguments, because they may be personal data.
impl fmt::Debug for StoredCall {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("StoredCall")
            .field("tool", &self.tool)
            .finish_non_exhaustive()
    }
}

impl StoredCall {
    #[inline]
    pub(super) fn new(call: &OwnedCall, tool: &ToolFacts) -> Self {
        let principal = call.extensions().get().map(Principal::as_str);
        let scopes = call.extensions().find::<Access>().map(|access| {
            let known = call.server.required_scopes();
            let known = known.iter().flat_map(|(_, scopes)| scopes.alternatives());
            access.granted(known)
        });
        Self {
            tool: tool.name.to_string(),
            arguments: call.target.arguments.as_deref().and_then(raw),
            meta: call.meta().and_then(raw),
            id: raw(call.id()).unwrap_or_default(),
            principal: principal.map(str::to_owned),
            scopes,
            revision: call.peer.revision().as_str().to_owned(),
            capabilities: call.peer.capabilities().clone(),
            info: call.peer.info().cloned(),
            values: tool.shape == Shape::Value,
        }
    }

    /// Returns the revision of the client.
    ///
    /// # Errors
    ///
    /// An internal error if this version of the library does not know the revision.
    pub fn revision(&self) -> Result<Revision, RpcError> {
        self.revision.parse().map_err(|_| {
            let revision = &self.revision;
            RpcError::internal(format!(
                "the record of the task has the unknown protocol revision `{revision}`"
            ))
        })
    }

    /// Returns the extensions of the call: its principal and its access.
    #[inline]
    pub(crate) fn extensions(&self) -> Extensions {
        let mut extensions = Extensions::new();
        if let Some(principal) = &self.principal {
            extensions.insert(Principal::new(principal.as_str()));
        }
        if let Some(scopes) = &self.scopes {
            extensions.insert(Access::new(StoredAuthority {
                scopes: scopes.clone(),
                base: RequiredScopes::default(),
            }));
        }
        extensions
    }

    /// Returns the shape of the results of the call.
    pub fn result_shape(&self) -> ResultShape {
        ResultShape {
            values: self.values,
        }
    }
}

/// Shape of the results of a [`StoredCall`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ResultShape {
    /// Set if they are values, which older revisions receive within an object.
    pub values: bool,
}

impl ResultShape {
    /// Writes a result of a [`DetachedRun`](crate::internal::task::DetachedRun) as the call would have returned it. One that is
    /// plain, without `_meta` and `resultType` of its own, is copied if the peer accepts the newest format.
    ///
    /// # Errors
    ///
    /// An internal error if `text` is not an object.
    #[inline]
    pub fn write(
        self,
        text: &str,
        is_plain: bool,
        result: &mut ResultWriter<'_>,
    ) -> Result<(), RpcError> {
        let shape = if self.values {
            Shape::Value
        } else {
            Shape::Any
        };
        let style = result.style();
        let (placement, is_newest) = (style.placement(shape), style.revision() == Revision::LATEST);
        if is_plain && is_newest && placement == Placement::Bare {
            let members = text.strip_suffix('}').ok_or_else(unreadable)?;
            result.push(members.as_bytes());
            result.end(None);
            return Ok(());
        }
        write(text, placement, result)
    }

    /// Returns a result in the format of `revision`, see [`ResultShape::write`].
    ///
    /// # Errors
    ///
    /// An internal error if `text` is not an object.
    #[inline]
    pub fn text(self, server: &Server, revision: Revision, text: &str) -> Result<String, RpcError> {
        let mut out = Vec::with_capacity(text.len() + 128);
        let mut result = ResultWriter::new(&mut out, server.style(revision));
        self.write(text, false, &mut result)?;
        String::from_utf8(out).map_err(|_| unreadable())
    }
}

/// Writes the result of a request that has become a task, for layers and clients of any revision. Its `resultType` is added in the
/// modern era.
///
/// # Errors
///
/// An internal error if `text` is not an object.
#[inline]
pub fn write_created(result: &mut ResultWriter<'_>, text: &str) -> Result<(), RpcError> {
    // Layers see it too, and must not take it for the result of the tool.
    let marked = match (member(text, "resultType"), text.strip_prefix('{')) {
        (None, Some(members)) if members.trim_start() != "}" => {
            Cow::Owned(format!("{{\"resultType\":\"task\",{members}"))
        }
        _ => Cow::Borrowed(text),
    };
    write(&marked, Placement::Bare, result)
}

#[inline]
fn write(text: &str, placement: Placement, result: &mut ResultWriter<'_>) -> Result<(), RpcError> {
    let rewritten = rewrite(text, placement, result, |_, _| false).map_err(|_| unreadable())?;
    rewritten.end(result);
    Ok(())
}

#[cold]
fn unreadable() -> RpcError {
    RpcError::internal("the result of the task is not an object")
}

fn raw(text: &str) -> Option<Box<RawValue>> {
    RawValue::from_string(text.to_owned()).ok()
}

/// Scopes that were granted when a task was made.
#[derive(Debug)]
struct StoredAuthority {
    scopes: BTreeSet<String>,
    base: RequiredScopes,
}

impl Authority for StoredAuthority {
    fn has_scope(&self, scope: &str) -> bool {
        self.scopes.contains(scope)
    }

    fn base(&self) -> &RequiredScopes {
        &self.base
    }

    fn refusal(&self, scopes: &str) -> Value {
        json!({ "error": "insufficient_scope", "scope": scopes })
    }

    #[inline]
    fn granted(&self) -> Vec<String> {
        self.scopes.iter().cloned().collect()
    }
}
