//! Calls that run again, as tasks continue them after a restart.

use std::sync::Arc;

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

/// Runs the function of a stored call again, from its start, with `link` in place of its client. The function starts at the first
/// poll, in the policy of its tool and without the wrapper of its task support.
///
/// The call has the principal, the granted scopes, the capabilities and the metadata of its client. Other values of transports
/// and layers, such as HTTP headers, are not stored.
///
/// # Errors
///
/// The tool does not exist any more, is disabled or hidden from the caller, or needs a scope that was not granted. The arguments
/// are checked as those of any call: if the input schema of the tool has changed so that it does not accept them any more, the
/// result of the run reports them.
pub fn resume(
    server: &Server,
    stored: &StoredCall,
    link: Arc<dyn TaskLink>,
) -> Result<DetachedRun, RpcError> {
    let peer = Arc::new(Peer::stored(
        stored.revision()?,
        stored.capabilities.clone(),
        stored.info.clone(),
    ));
    let extensions = stored.extensions();
    let snapshot = Registry::of(server).snapshot();
    let caller = Caller::new(&extensions, &peer);
    let view = snapshot.view(&caller, None, &server.state.config);
    let snapshot = view.unwrap_or(snapshot);
    let entry = snapshot.tool_entry(&stored.tool).ok_or_else(|| {
        let tool = &stored.tool;
        let message = format!("the task cannot continue: the tool `{tool}` does not exist any more, or is not available to its caller");
        RpcError::internal(message)
    })?;
    let tool = ToolFacts::new(&entry.descriptor);
    if let Some(access) = extensions.get::<Access>() {
        access.check(&[&entry.scopes])?;
    }
    let (outbox, _) = outbox(server.limits());
    let id: Arc<str> = stored.id.get().into();
    let call = Call {
        peer: &peer,
        id: CallId::Shared(&id),
        target: CallTarget {
            principal: stored.principal.as_deref(),
            method: Some(Method::CallTool),
            name: &entry.descriptor.name,
            arguments: stored.arguments.as_deref().map(|text| text.get()),
        },
        meta: stored.meta.as_deref().map(|text| text.get()),
        params: None,
        server,
        outbox: &outbox,
        resumed: None,
        extensions: &extensions,
        context: None,
        permit: None,
    };
    let call = DetachableCall::new(&call, &tool);
    call.detach(link);
    let entry = Arc::clone(entry);
    Ok(call.start_with(move |call, result| (entry.handler)(call, result)))
}
