//! Methods of extensions.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::ops::{Bound, RangeBounds};
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Map;
use treenail_schema::{Method, Revision};

use super::identifier::OFFICIAL;
use super::params::read_params;
use crate::call::Call;
use crate::context::Context;
use crate::function::argument_error::Problem;
use crate::function::run::{Running, RunningCall, panic_error, to_rpc_error};
use crate::function::{FeatureKind, Function, Output, Write};
use crate::handler::Handler;
use crate::result_writer::ResultWriter;
use crate::wire::{RpcError, write_json};

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
        Self::writing(name, handler, write)
    }

    /// Creates a method whose output `write` writes.
    pub(crate) fn writing<P, T, F, A>(
        name: impl Into<String>,
        handler: F,
        write: Write<T, MethodInfo>,
    ) -> Self
    where
        P: DeserializeOwned + 'static,
        T: 'static,
        F: Fn(Context, P) -> A + Send + Sync + 'static,
        A: Future<Output = T> + Send + 'static,
    {
        let name: Box<str> = name.into().into();
        let info = MethodInfo { name: name.clone() };
        let output = Output {
            schema: |_| None,
            write,
        };
        let schemas = (Ok(Map::new()), output.schema);
        let function = Function::new(
            schemas,
            move |_: &Arc<()>, info: &Arc<MethodInfo>, call, _| {
                let params = read_params(&info.name, call.target.arguments, call.meta)?;
                let (context, running) = RunningCall::of::<Context>(info, call);
                let future = handler(context, params);
                Ok(Some(Running::start(future, output, running)))
            },
        );
        Self {
            name,
            name_header: None,
            gated: true,
            revisions: (Bound::Unbounded, Bound::Unbounded),
            handler: function.bind(Arc::new(()), info),
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
pub(crate) struct MethodInfo {
    name: Box<str>,
}

impl FeatureKind for MethodInfo {
    type Details = ();
    type WriteContext = ();

    fn write_context(_: &Call<'_>) {}

    fn reject(
        &self,
        _: &[Problem],
        _: Option<&str>,
        _: &mut ResultWriter<'_>,
    ) -> Result<(), RpcError> {
        let message = format!("invalid `params` for `{}`", self.name);
        Err(RpcError::invalid_params(message))
    }

    fn on_panic(&self, message: &str, _: &mut ResultWriter<'_>) -> Result<(), RpcError> {
        Err(panic_error("method", &self.name, message))
    }
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
    let mut text = Vec::with_capacity(64);
    write_json(&mut text, &value).map_err(|error| failed(&format!("is not JSON: {error}")))?;
    let text = match std::str::from_utf8(&text) {
        Ok("null") => "{}",
        Ok(text) => text,
        Err(_) => return Err(failed(&"is not UTF-8")),
    };
    result.object(text).map_err(|_| failed(&"is not an object"))
}
