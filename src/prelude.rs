//! The most common items: `use treenail::prelude::*;`.

#[cfg(feature = "client")]
pub use crate::ClientError;
#[cfg(feature = "authorization")]
pub use crate::auth::ContextExt as _;
#[cfg(feature = "http-client")]
pub use crate::client::HttpClientBuilderExt as _;
pub use crate::elicit::AskError;
#[cfg(feature = "http-server")]
pub use crate::http::ServeHttp as _;
#[cfg(all(feature = "skills", feature = "client"))]
pub use crate::skills::SkillClientExt as _;
#[cfg(all(feature = "tasks", feature = "client"))]
pub use crate::tasks::{TaskBuilderExt as _, TaskCallExt as _, TaskClientExt as _};
pub use crate::{
    Context, RpcError, Server, Stream, ToolError, Value, json, mcp_client, mcp_form, mcp_tool,
    mcp_type, tools,
};
// Without the feature `client`, they are placeholders that name it.
#[cfg_attr(not(feature = "client"), doc(hidden))]
pub use crate::{McpClient, McpClientSession};
#[cfg(feature = "tool-loop")]
pub use crate::{
    ToolLoop,
    agent::{ClientBuilderExt as _, ContextExt as _},
};
pub use treenail_macros::{prompt, resource, tool};
