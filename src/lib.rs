// These definitions take precedence over those at the end of README.md, which link the files of the repository to each other.
#![doc = "[architecture]: https://docs.rs/crate/treenail/latest/source/ARCHITECTURE.md"]
#![doc = "[cli]: https://crates.io/crates/treenail-cli"]
#![doc = "[compare]: https://docs.rs/crate/treenail/latest/source/COMPARE.md"]
#![doc = "[contributing]: https://docs.rs/crate/treenail/latest/source/CONTRIBUTING.md"]
#![doc = "[FastMCP]: crate::guide::coming_from_fastmcp"]
#![doc = "[guide]: crate::guide"]
#![doc = "[hosts]: crate::guide::hosts"]
#![doc = "[rmcp]: crate::guide::coming_from_rmcp"]
#![doc = "[security]: https://docs.rs/crate/treenail/latest/source/SECURITY.md"]
#![doc = "[versioning]: https://docs.rs/crate/treenail/latest/source/VERSIONING.md"]
#![doc = ""]
#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "client")]
pub mod client;
#[cfg(doc)] // rustdoc runs no examples of a module under `any(doc, …)`
pub mod guide;
mod macros;
pub mod prelude;
pub mod server;
pub mod tool;

/// The types of the protocol, named as in its newest revision.
pub use treenail_runtime::schema;
// Types of arguments and results: a server needs no dependency on these crates. Other features of a crate are enabled by a
// dependency of your own on it.
/// The crate `chrono`, whose types can be arguments, results and fields of forms.
#[cfg(feature = "chrono")]
pub use treenail_runtime::chrono;
/// The crate `jiff`, whose types can be arguments, results and fields of forms.
#[cfg(feature = "jiff")]
pub use treenail_runtime::jiff;
/// JSON of any shape, and a value of it from a literal. Both are those of the crate `serde_json`.
pub use treenail_runtime::private::serde_json::{Value, json};
/// The crate `rust_decimal`, whose types can be arguments, results and fields of forms.
#[cfg(feature = "rust_decimal")]
pub use treenail_runtime::rust_decimal;
/// The crate `url`, whose types can be arguments, results and fields of forms.
#[cfg(feature = "url")]
pub use treenail_runtime::url;
/// The crate `uuid`, whose types can be arguments, results and fields of forms.
#[cfg(feature = "uuid")]
pub use treenail_runtime::uuid;
#[doc(inline)]
pub use treenail_runtime::{
    Context, Error, Limits, Result, RpcError, Server, ServerBuilder, Stream, ToolError,
};
// The version is part of the name, so that macros and library of different versions fail with an error that names it.
#[doc(hidden)]
pub use treenail_macros::__discard;
#[cfg(not(feature = "client"))]
#[doc(hidden)]
pub use treenail_runtime::missing_features::client::{McpClient, McpClientSession};
#[doc(hidden)]
pub use treenail_runtime::private as __private_0_1_0;
#[cfg(not(feature = "tasks"))]
#[doc(hidden)]
pub use treenail_runtime::private::without_tasks as __tasks_0_1_0;
#[cfg(feature = "tasks")]
#[doc(hidden)]
pub use treenail_tasks::private as __tasks_0_1_0;
// Generated clients are committed by their users, so this path stays as it is.
#[doc(hidden)]
pub mod __generated {
    pub use treenail_runtime::private::{present, serde, serde_json};

    /// Creates the template with this text. Its name plays no role in the expansion.
    #[cfg(feature = "client")]
    #[must_use]
    pub fn url_template(uri_template: &str) -> crate::client::UrlTemplate {
        crate::schema::ResourceTemplate::new(uri_template, "").into()
    }
}

#[doc(inline)]
pub use self::macros::{mcp_client, mcp_form, mcp_tool, mcp_type, prompt, resource, tool, tools};

/// Agents: the tool loop runs a language model with tools until the model has finished.
///
/// In a client, [`enable_tool_use_for_sampling`](agent::ClientBuilderExt::enable_tool_use_for_sampling)
/// responds to the sampling of its server. In a server, [`Context::model`](agent::ContextExt::model) is the model of the client, for tools that are
/// agents themselves.
///
/// Guide: [agents](crate::guide::agents).
#[cfg(feature = "tool-loop")]
#[doc(inline)]
pub use treenail_agent as agent;
#[cfg(feature = "tool-loop")]
#[doc(inline)]
pub use treenail_agent::ToolLoop;
/// Authorization: OAuth clients and resource servers.
#[cfg(any(
    feature = "oauth",
    feature = "authorization",
    feature = "test-authorization"
))]
#[doc(inline)]
pub use treenail_auth as auth;
/// Adapter for the crate `jsoncall`: clients over its sessions, and servers as its handlers.
#[cfg(feature = "jsoncall")]
#[doc(inline)]
pub use treenail_jsoncall as jsoncall;
/// Proxies: other servers, served as a part of one server. Guide: [proxies](crate::guide::proxies).
#[cfg(feature = "proxy")]
#[doc(inline)]
pub use treenail_proxy as proxy;
#[cfg(feature = "client")]
#[doc(inline)]
pub use treenail_runtime::client::{ClientError, McpClient, McpClientSession};
/// Simulations of a server with its clients, replicas, event bus and task store: with faults, on virtual time, from one seed.
///
/// Guide: [testing](crate::guide::testing).
#[cfg(feature = "sim")]
#[doc(inline)]
pub use treenail_sim as sim;
/// Skills: folders of instructions for models. Guide: [skills](crate::guide::skills).
#[cfg(feature = "skills")]
#[doc(inline)]
pub use treenail_skills as skills;
/// Tasks: calls of tools that outlive their request, and the places where they are stored.
#[cfg(feature = "tasks")]
#[doc(inline)]
pub use treenail_tasks as tasks;

/// Attribute values and arguments: traits of the values that attribute keys accept, and of the types of arguments.
pub mod args {
    #[doc(inline)]
    pub use treenail_runtime::{
        FieldType, FromText, HasLength, HasRange, HeaderArgument, InputFieldType, IntoAnnotations,
        IntoDefault, IntoIcons, IntoMeta, IntoRange, IntoSchema, IntoScopes, OutputFieldType,
        Suitable, TextArgument, ToolArgument,
    };
}

/// Completion of the arguments of prompts and resource templates.
///
/// Guide: [prompts](crate::guide::prompts).
pub mod completion {
    #[doc(inline)]
    pub use treenail_runtime::{CompletionRequest, FromCompletionRequest, IntoCompletions};
}

/// Values that come with a call: the caller, extensions of the transport, progress.
pub mod context {
    #[doc(inline)]
    pub use treenail_runtime::{
        ClientIdentity, Context, Extensions, FromCall, Principal, Progress,
    };
}

/// Contracts: the traits of typed contracts, and contracts as data.
///
/// Guide: [contracts](crate::guide::contracts).
pub mod contract {
    #[cfg(feature = "client")]
    #[doc(inline)]
    pub use treenail_runtime::client::{
        Change, Contract, ContractError, Drift, DriftLimits, Severity, Subject,
    };
    #[doc(inline)]
    pub use treenail_runtime::{ContractArgument, ContractItem, ContractOutput, Fallible};
}

/// Elicitation, sampling and roots: requests from a function to the client.
///
/// Guide: [elicitation](crate::guide::elicitation).
#[doc(inline)]
pub use treenail_runtime::ask as elicit;

/// Events between the replicas of a server.
///
/// Guide: [deployment](crate::guide::deployment).
pub mod events {
    #[cfg(feature = "redis")]
    #[doc(inline)]
    pub use treenail_redis::RedisBus;
    #[doc(inline)]
    pub use treenail_runtime::{BusFuture, EventBus, EventLink};
}

/// Extensions of the protocol: capabilities with an identifier, and methods of their own.
///
/// Guide: [extensions](crate::guide::extensions).
pub mod extension {
    #[doc(inline)]
    pub use treenail_runtime::{Extension, ExtensionMethod};
}

/// Forms: the fields that a user fills in.
///
/// Guide: [elicitation](crate::guide::elicitation).
pub mod form {
    #[doc(inline)]
    pub use treenail_runtime::{FieldError, Form, FormChoice, FormError, FormField, StringFormat};
    #[cfg(feature = "client")]
    #[doc(inline)]
    pub use treenail_runtime::{describe_field, parse_form_content};
}

/// Streamable HTTP: a service for axum, hyper and tower, and a server with its own listener.
///
/// Guide: [http](crate::guide::http), [deployment](crate::guide::deployment).
#[cfg(feature = "http-server")]
pub mod http {
    #[doc(inline)]
    pub use treenail_http_server::{
        AuthorizeFuture, Authorized, HttpAuthorizer, HttpBody, HttpFuture, HttpServer, HttpService,
        IntoHttpAuthorizer, ServeHttp, SsePaths, http_service,
    };
}

/// Tools, prompts, resources and templates that are made at run time.
///
/// Guide: [features at run time](crate::guide::dynamic).
#[cfg(feature = "dynamic")]
#[doc(inline)]
pub use treenail_runtime::dynamic;
#[cfg(feature = "tower")]
#[doc(inline)]
pub use treenail_runtime::layer;

/// Limits of a server, in groups.
///
/// Guide: [limits](crate::guide::limits).
pub mod limits {
    #[doc(inline)]
    pub use treenail_runtime::{
        EventLimits, HttpLimits, Limits, StreamLimits, SubscriptionLimits, ValidationLimits,
    };
}

/// Observers of the requests to a server, for telemetry.
#[doc(inline)]
pub use treenail_runtime::observe;

/// Spans and metrics by the conventions of OpenTelemetry.
#[cfg(feature = "otel")]
pub mod otel {
    #[doc(inline)]
    pub use treenail_otel::{Telemetry, TelemetryBuilder, opentelemetry};
}

/// Prompts: the definitions that `#[prompt]` generates, and the outputs that they accept.
///
/// Guide: [prompts](crate::guide::prompts).
pub mod prompt {
    #[doc(inline)]
    pub use treenail_runtime::{PromptDefinition, PromptOutput};
}

/// Resources: the definitions that `#[resource]` generates, and the outputs that they accept.
///
/// Guide: [resources](crate::guide::resources).
pub mod resource {
    #[doc(inline)]
    pub use treenail_runtime::{ResourceDefinition, ResourceOutput};
}

/// Scopes: those that functions require, and those that the callers of a server have.
#[cfg_attr(
    feature = "authorization",
    doc = "\n\nGuide: [authorization](crate::guide::authorization)."
)]
pub mod scope {
    #[doc(inline)]
    pub use treenail_runtime::{Access, Authority, MissingScope, OneOf, RequiredScopes};
}

/// One connection of a server without its transport.
///
/// A transport of your own is simplest as a bridge to [`Connection::serve`](transport::Connection::serve), and to a
/// [`LineSession`](crate::client::LineSession) at the client: the guide's page on [deployment](crate::guide::deployment) has one for
/// single messages. [`Connection::handle_message`](transport::Connection::handle_message) is the interface below.
pub mod transport {
    #[doc(inline)]
    pub use treenail_runtime::{CallPermits, Connection, Handled, PendingResponse};
}
