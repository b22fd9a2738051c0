#![doc = include_str!("../README.md")]

#[doc(hidden)]
pub use treenail_runtime::private as __private;
/// The types of the protocol, in the vocabulary of its newest revision.
pub use treenail_runtime::schema;
#[doc(inline)]
pub use treenail_runtime::{
    Bounded, Call, Connection, Context, Error, FromCall, FromText, FromTyped, Limits, Measured,
    Mount, PendingAnswer, Progress, PromptDefinition, PromptOutput, Proposals, Received,
    ResourceDefinition, ResourceOutput, Result, RpcError, Server, ServerBuilder, TextArgument,
    Tool, ToolArgument, ToolDefinition, ToolError, ToolOutput, ToolReply, ToolSet, Typed,
};

/// Makes a function a tool, or the methods of an `impl` block a set of tools.
///
/// On a **function**, the function stays as it is, and an empty type of the same name stands for the tool: `tools![add]`
/// takes it.
///
/// ```
/// use treenail::prelude::*;
///
/// /// Adds two integers.
/// #[mcp_tool(read_only)]
/// async fn add(
///     /// The first one
///     a: i64,
///     #[arg(default = 1, range = 0..=100)] b: i64,
/// ) -> i64 {
///     a + b
/// }
///
/// let server = treenail::server!().tools(tools![add]).build()?;
/// # Ok::<(), treenail::Error>(())
/// ```
///
/// On an **`impl` block**, the methods that are marked `#[tool]` become tools; the others are left alone. The name of a
/// tool is `namespace.method`. The documentation of the block becomes part of the server's instructions.
///
/// ```
/// use treenail::prelude::*;
///
/// struct Counter(std::sync::atomic::AtomicU64);
///
/// /// Counts.
/// #[mcp_tool(namespace = "counter")]
/// impl Counter {
///     /// Counts up and tells how far.
///     #[tool]
///     fn up(&self) -> u64 {
///         1 + self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
///     }
/// }
///
/// let server = treenail::server!().mount(Counter(0.into())).build()?;
/// # Ok::<(), treenail::Error>(())
/// ```
///
/// # Arguments
///
/// Each parameter is an argument, described by its documentation comment; its type needs `Deserialize` and
/// `JsonSchema` ([`ToolArgument`]), which [`macro@mcp_type`] derives. An `Option` may be left out. A parameter
/// `cx: &Context` is taken from the call ([`Context`]). `#[arg(…)]` takes
///
/// | key | meaning |
/// |---|---|
/// | `name = "…"` | the name that the model uses |
/// | `default`, `default = value` | the argument may be left out or `null` |
/// | `range = 1..=7` | bounds a number |
/// | `length = 1..=80` | bounds the characters of a text or the items of a list |
///
/// Arguments are checked before the function runs. A wrong one gives a result with `isError` that names its JSON
/// Pointer, what was expected and the nearest known name.
///
/// # Output
///
/// Any type that implements `Serialize` and `JsonSchema`, text, content blocks, nothing, or a `Result` of those with any
/// error: see [`ToolOutput`].
///
/// # Keys
///
/// | key | where | meaning |
/// |---|---|---|
/// | `name = "…"`, `title = "…"` | tool | the name to call it by, and the one that people see |
/// | `read_only`, `destructive`, `idempotent`, `open_world` | tool | hints for the host; `= false` denies one |
/// | `icons = …`, `meta = …` | tool | values for `icons` and `_meta` |
/// | `blocking` | tool | a function that blocks runs on a thread of its own |
/// | `namespace = "…"` | `impl` | what the names of its tools begin with |
/// | `crate = path` | function, `impl` | where this crate is, if it has another name |
pub use treenail_macros::mcp_tool;
/// Derives `Serialize`, `Deserialize` and `JsonSchema` for a type, so that it can be an argument or output of a tool.
///
/// The derives come through this crate, so yours need not depend on serde or schemars. The attributes of both,
/// `#[serde(…)]` and `#[schemars(…)]`, can be used on the type and its members.
///
/// ```
/// use treenail::prelude::*;
///
/// /// What the weather will be.
/// #[mcp_type]
/// struct Forecast {
///     /// Degrees Celsius
///     temperature: f64,
///     #[serde(rename = "windSpeed")]
///     wind_speed: f64,
/// }
/// ```
pub use treenail_macros::mcp_type;
/// Lists functions that [`macro@mcp_tool`] has made tools. Two of one name do not build.
///
/// ```
/// use treenail::prelude::*;
///
/// #[mcp_tool]
/// fn hello() -> &'static str {
///     "Hello"
/// }
///
/// let tools = tools![hello];
/// # let _ = tools;
/// ```
pub use treenail_macros::tools;

/// What most servers name: `use treenail::prelude::*;`.
pub mod prelude {
    pub use crate::{Context, Server, ToolError, mcp_tool, mcp_type, tools};
}

/// Starts the description of a server that has the name and version of the crate in which this stands.
///
/// ```
/// let server = treenail::server!().build()?;
/// # Ok::<(), treenail::Error>(())
/// ```
#[macro_export]
macro_rules! server {
    () => {
        $crate::Server::builder(
            ::core::env!("CARGO_PKG_NAME"),
            ::core::env!("CARGO_PKG_VERSION"),
        )
    };
}
