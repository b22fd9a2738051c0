//! Names of the client.

use tokio::process::{ChildStdin, ChildStdout};
use treenail_schema::{CallToolRequest, CallToolResult};

pub use crate::client::answers::{answered_id, check_decoded_size, id_at_ends, is_cut_off};
pub use crate::client::line::{CloseReason, IN_MEMORY_BUFFER_BYTES};
pub use crate::client::stray::StrayLines;
use crate::client::{ClientError, ClientLimits, ClientRequest, McpClient, ServerCommand};
use crate::limits::Limits;

/// Starts a server as a child process. Returns its streams, and the source of its close reason.
pub fn start(
    command: &ServerCommand,
    limits: &ClientLimits,
) -> Result<(ChildStdout, ChildStdin, CloseReason), ClientError> {
    command.spawn(limits)
}

/// Returns the record of stray lines of a server.
pub fn stray_lines(command: &ServerCommand) -> StrayLines {
    command.stray_lines()
}

/// Returns the limits of parsing messages for a client.
pub fn parsing_limits(limits: &ClientLimits) -> Limits {
    limits.parsing()
}

/// Returns the number of changes of its list of tools that the server has announced.
pub fn tools_version(client: &McpClient) -> u64 {
    client.tools_version()
}

/// Sends a prepared call of a tool, and validates its result.
pub async fn call_tool(
    client: &McpClient,
    tool: &str,
    request: ClientRequest<CallToolRequest>,
) -> Result<CallToolResult, ClientError> {
    client.send_call(tool, request).await
}
