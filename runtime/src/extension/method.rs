//! Methods of extensions.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::ops::{Bound, RangeBounds};
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use treenail_schema::{Method, Revision};

use super::identifier::OFFICIAL;
use super::publication::push_member;
use crate::call::{Call, CallValue};
use crate::context::Context;
use crate::function::argument_error::Problem;
use crate::function::run::{Running, catch_panic, panic_error, to_rpc_error};
use crate::function::{FeatureKind, Output};
use crate::handler::Handler;
use crate::result_writer::ResultWriter;
use crate::wire::{Members, RpcError, raw_json, shortened};

/// Method of an [`Extension`](crate::extension::Extension), with its handler and its options.
///
/// ```
/// use treenail::extension::{Extension, ExtensionMethod};
/// use treenail::RpcError;
/// use treenail::prelude::*;
///
/// #[mcp_type]
/// struct Get {
///     #[serde(rename = "jobId")]
///     job_id: String,
/// }
///
/// async fn get(_: Context, params: Get) -> Result<String, RpcError> {
///     Err(RpcError::invalid_params(format!("there is no job `{}`", params.job_id)))
/// }
///
/// let get = ExtensionMethod::new("jobs/get", get).name_header("jobId");
/// let extension = Extension::new("com.example/jobs").add_method(get);
/// ```
#[must_use = "a method is part of an extension"]
pub struct ExtensionMethod {
    pub(super) name: Box<str>,
    pub(super) name_header: Option<Box<str>>,
    gated: bool,
    revisions: (Bound<Revision>, Bound<Revision>),
    handler: Handler,
}

impl fmt::Debug for ExtensionMethod {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ExtensionMethod")
            .field("name", &self.name)
            .field("name_header", &self.name_header)
            .field("gated", &self.gated)
            .field("revisions", &self.revisions)
            .finish_non_exhaustive()
    }
}

impl ExtensionMethod {
    /// Creates the method `name`, such as `jobs/get`, whose requests `handler` answers.
    ///
    /// See [`Extension::method`](crate::extension::Extension::method).
    pub fn new<P, R, E, F, A>(name: impl Into<String>, handler: F) -> Self
    where
        P: DeserializeOwned + 'static,
        R: Serialize + 'static,
        E: Into<Box<dyn Error + Send + Sync>> + 'static,
        F: Fn(Context, P) -> A + Send + Sync + 'static,
        A: Future<Output = Result<R, E>> + Send + 'static,
    {
        let name: Box<str> = name.into().into();
        let info = Arc::new(MethodInfo { name: name.clone() });
        let output = Output {
            schema: |_| None,
            write: write::<R, E>,
        };
        let handler = move |call: &Call<'_>, result: &mut ResultWriter<'_>| {
            let started = catch_panic(&*info, result, |_| {
                let params = read_params(&info.name, call.target.arguments)?;
                let context = Context::from_call(call);
                let lifetime = context.lifetime();
                let future = handler(context, params);
                Ok(Some(Running::start(future, output, &info, ((), lifetime))))
            });
            started.unwrap_or_else(|ended| ended.map(|()| None))
        };
        Self {
            name,
            name_header: None,
            gated: true,
            revisions: (Bound::Unbounded, Bound::Unbounded),
            handler: Box::new(handler),
        }
    }

    /// Sets the member of the parameters, a string, that requests over HTTP repeat in the header `Mcp-Name`, so that a proxy can
    /// route by it. A request without the header, or with another value, fails with code -32020 (2026-07-28).
    pub fn name_header(mut self, member: impl Into<String>) -> Self {
        self.name_header = Some(member.into().into());
        self
    }

    /// Serves clients that have not declared the extension too.
    pub fn ungated(mut self) -> Self {
        self.gated = false;
        self
    }

    /// Sets the revisions of the protocol in which the method exists. Default: all.
    pub fn revisions(mut self, revisions: impl RangeBounds<Revision>) -> Self {
        let bounds = (revisions.start_bound(), revisions.end_bound());
        self.revisions = (bounds.0.cloned(), bounds.1.cloned());
        self
    }

    /// Returns `true` if the client must have declared the extension.
    pub(crate) fn is_gated(&self) -> bool {
        self.gated
    }

    pub(crate) fn handler(&self) -> &Handler {
        &self.handler
    }

    pub(super) fn exists_in(&self, revision: Revision) -> bool {
        self.revisions.contains(&revision)
    }

    /// Checks the name of the method of the extension `id`.
    pub(super) fn check(&self, id: &str) -> Result<(), String> {
        const MAX_BYTES: usize = 128;

        let name = &*self.name;
        let is_header_value = name.bytes().all(|byte| byte.is_ascii_graphic());
        if name.is_empty() || name.len() > MAX_BYTES || !is_header_value {
            return Err(format!(
                "the method name `{name}` of the extension `{id}` is not valid: expected 1 to {MAX_BYTES} visible ASCII characters"
            ));
        }
        let known = Method::from_name(name);
        let is_free = known.is_none_or(|known| is_task_method(known) && id.starts_with(OFFICIAL));
        if is_free && !name.starts_with("notifications/") {
            return Ok(());
        }
        Err(format!(
            "the method `{name}` of the extension `{id}` has the name of a message of the protocol itself; choose another name, \
             such as `{}/do`",
            id.rsplit('/').next().unwrap_or_default()
        ))
    }
}

/// Returns `true` for a core method of revision 2025-11-25 that became a part of an extension.
pub(crate) fn is_task_method(method: Method) -> bool {
    matches!(
        method,
        Method::GetTask | Method::CancelTask | Method::ListTasks | Method::GetTaskPayload
    )
}

/// Facts about a method that its requests need.
struct MethodInfo {
    name: Box<str>,
}

impl FeatureKind for MethodInfo {
    type Details = ();
    type WriteContext = ();

    fn write_context(_: &Call<'_>) {}

    fn reject(&self, _: &[Problem], _: &mut ResultWriter<'_>) -> Result<(), RpcError> {
        let message = format!("invalid `params` for `{}`", self.name);
        Err(RpcError::invalid_params(message))
    }

    fn on_panic(&self, message: &str, _: &mut ResultWriter<'_>) -> Result<(), RpcError> {
        Err(panic_error("method", &self.name, message))
    }
}

/// Reads the parameters of a request, without `_meta`.
fn read_params<P: DeserializeOwned>(method: &str, text: Option<&str>) -> Result<P, RpcError> {
    let text = without_meta(text.unwrap_or("{}"));
    // Only an error needs the path to its place.
    if let Ok(params) = serde_json::from_str(&text) {
        return Ok(params);
    }
    let mut reader = serde_json::Deserializer::from_str(&text);
    serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let member = match error.path().to_string().as_str() {
            "." => String::new(),
            path => format!("`{}`: ", shortened(path)),
        };
        let reason = error.inner().to_string();
        let reason = shortened(reason.split(" at line ").next().unwrap_or_default());
        RpcError::invalid_params(format!("invalid `params` for `{method}`: {member}{reason}"))
    })
}

/// Returns the text of an object without its member `_meta`. Its JSON has been checked.
fn without_meta(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut members = Members::new(text);
    while let Ok(Some((key, value))) = members.as_mut().map_or(Ok(None), Members::next) {
        if key != "_meta" {
            push_member(&mut out, &key, value);
        }
    }
    out.insert(0, '{');
    out.push('}');
    out
}

/// Writes the result of a handler.
#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature is that of every kind of function"
)]
fn write<R, E>(
    returned: Result<R, E>,
    info: &MethodInfo,
    (): &(),
    result: &mut ResultWriter<'_>,
) -> Result<(), RpcError>
where
    R: Serialize,
    E: Into<Box<dyn Error + Send + Sync>>,
{
    let value = returned.map_err(to_rpc_error)?;
    let failed = |problem: &dyn fmt::Display| {
        let method = &*info.name;
        tracing::error!(method, %problem, "the result of a method could not be written");
        RpcError::internal(format!("the result of `{method}` {problem}"))
    };
    let text = raw_json(&value).map_err(|error| failed(&format!("is not JSON: {error}")))?;
    let text = match text.get() {
        "null" => "{}",
        text => text,
    };
    result.object(text).map_err(|_| failed(&"is not an object"))
}
