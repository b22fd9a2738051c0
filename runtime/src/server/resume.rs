//! Calls that run again, as tasks continue them after a restart.

use std::sync::Arc;

use serde_json::value::RawValue;
use treenail_schema::Method;

use crate::call::{Call, CallTarget};
use crate::outbox::outbox;
use crate::request_id::CallId;
use crate::revision::Peer;
use crate::scope::Access;
use crate::server::Server;
use crate::server::registry::Registry;
use crate::task::{DetachableCall, DetachedRun, StoredCall, TaskLink, ToolFacts};
use crate::visibility::Caller;
use crate::wire::RpcError;

impl Server {
    /// Returns `true` if the tool of a stored call does not exist, but an edit may add it.
    #[inline]
    pub(crate) fn may_add_tool(&self, stored: &StoredCall) -> bool {
        let is_dynamic = self.state.config.dynamic;
        is_dynamic
            && Registry::of(self)
                .snapshot()
                .tool_entry(&stored.tool)
                .is_none()
    }

    /// Runs a stored call again, see [`resume`](crate::internal::task::resume).
    #[inline]
    pub(crate) fn resume(
        &self,
        stored: &StoredCall,
        link: Arc<dyn TaskLink>,
    ) -> Result<DetachedRun, RpcError> {
        let peer = Arc::new(Peer::without_logs(
            stored.revision()?,
            stored.capabilities.clone(),
            stored.info.clone(),
        ));
        let extensions = stored.extensions();
        let snapshot = Registry::of(self).snapshot();
        let caller = Caller::new(&extensions, &peer);
        let view = snapshot.view(&caller, None, &self.state.config);
        let snapshot = view.unwrap_or(snapshot);
        let entry = snapshot.tool_entry(&stored.tool);
        let entry = entry.ok_or_else(|| unavailable(&stored.tool))?;
        let tool = entry.tool().ok_or_else(|| unavailable(&stored.tool))?;
        let tool = ToolFacts::new(tool);
        if let Some(access) = extensions.get::<Access>() {
            access.check(&[&entry.scopes])?;
        }
        let (outbox, _) = outbox(self.limits());
        let id: Arc<str> = stored.id.get().into();
        let call = Call {
            peer: &peer,
            id: CallId::Shared(&id),
            target: CallTarget {
                principal: stored.principal.as_deref(),
                method: Some(Method::CallTool),
                name: entry.key(),
                arguments: stored.arguments.as_deref().map(RawValue::get),
            },
            meta: stored.meta.as_deref().map(RawValue::get),
            params: None,
            server: self,
            outbox: &outbox,
            resumed: None,
            extensions: &extensions,
            context: None,
            permit: None,
        };
        let call = DetachableCall::new(&call, &tool);
        call.detach(|_| link);
        let entry = Arc::clone(entry);
        Ok(call.start_with(move |call, result| (entry.handler)(call, result)))
    }
}

#[cold]
fn unavailable(tool: &str) -> RpcError {
    let problem = "does not exist any more, or is not available to its caller";
    RpcError::internal(format!(
        "the task cannot continue: the tool `{tool}` {problem}"
    ))
}
