//! Calls that run again after an interruption.

use treenail_runtime::Context;
use treenail_runtime::internal::task::link;

/// Returns `true` if the call is a task that was interrupted by the end of a process, and whose function runs again.
///
/// Such a call has the principal and the scopes of its first run, and no other [extension](Context::extension): these are values
/// of a process, and its layers do not run again. Without this function, a lost extension looks like one that the call never had.
///
/// ```
/// use treenail::prelude::*;
/// use treenail::tasks::runs_again;
///
/// #[derive(Clone, serde::Serialize, serde::Deserialize)]
/// struct Tenant(u32);
///
/// /// Delete the old files of the tenant.
/// #[mcp_tool(idempotent, task)]
/// async fn purge(cx: &Context) -> Result<String, ToolError> {
///     // The first run stores the value for the others.
///     let tenant: Option<Tenant> = cx
///         .once("tenant", async {
///             if runs_again(cx) {
///                 return Err(ToolError::new("interrupted before the tenant was stored"));
///             }
///             Ok(cx.extension::<Tenant>().cloned())
///         })
///         .await?;
///     Ok(match tenant {
///         Some(Tenant(id)) => format!("purged tenant {id}"),
///         None => "purged the files of all tenants".to_owned(),
///     })
/// }
/// # let _ = tools![purge];
/// ```
pub fn runs_again(context: &Context) -> bool {
    link(context).is_some_and(|link| link.runs_again())
}
