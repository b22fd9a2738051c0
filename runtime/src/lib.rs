//! Runtime of Treenail: the library behind the code that the macros generate.
//!
//! Use the crate `treenail`, which re-exports it. The modules, from the bytes up: `wire` (JSON-RPC messages), `revision`
//! (protocol revisions and the format of results), `function` (calls of annotated functions), `tool`, `prompt`, `resource`
//! and `completion` (the kinds of features), `stream` (streaming tools), `ask` and `form` (requests to the client), `policy`
//! (limits of tools), `server` (the core, without transport), `server::layer` (middleware), `bus` (events between replicas),
//! `transport` (byte streams) and `client`.

// docs.rs marks gated items by their `cfg` attributes. On the pages of `treenail` it sees only the attributes of an item itself,
// so public items in gated modules repeat the feature of their module.
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod ask;
mod attribute_value;
mod bus;
mod call;
mod cancelled_calls;
#[cfg(feature = "client")]
pub mod client;
mod completion;
mod context;
mod deadline;
mod definition;
#[cfg(feature = "dynamic")]
pub mod dynamic;
mod entry;
mod environment;
mod error;
mod extension;
mod extensions;
mod feature_descriptor;
mod form;
mod function;
mod handler;
#[doc(hidden)]
pub mod internal;
mod json;
mod limits;
mod log_throttle;
#[doc(hidden)]
pub mod missing_features;
mod naming;
mod outbox;
mod panic;
mod policy;
#[doc(hidden)]
pub mod private;
mod prompt;
mod queue;
mod registered;
mod request_id;
mod resource;
mod result_writer;
mod retry;
mod revision;
mod rewrite;
mod scope;
mod server;
mod stream;
mod stream_close;
mod task;
mod tool;
mod transport;
mod typed_contract;
mod visibility;

mod wire;
mod wrap;

#[cfg(feature = "chrono")]
pub use chrono;
pub use futures_core::Stream;
#[cfg(feature = "jiff")]
pub use jiff;
#[cfg(feature = "rust_decimal")]
pub use rust_decimal;
pub use treenail_schema as schema;
#[cfg(feature = "url")]
pub use url;
#[cfg(feature = "uuid")]
pub use uuid;

pub use self::ask::{AskError, RequestStateKey};
pub use self::attribute_value::{
    IntoAnnotations, IntoDefault, IntoIcons, IntoMeta, IntoRange, IntoSchema,
};
pub use self::bus::{BusFuture, EventBus, EventLink};
pub use self::call::{Call, FromCall};
pub use self::completion::{CompletionRequest, FromCompletionRequest, IntoCompletions};
pub use self::context::{ClientIdentity, Context, Progress};
pub use self::definition::Mount;
pub use self::error::{Error, Result};
pub use self::extension::{Extension, ExtensionMethod};
pub use self::extensions::{Extensions, Principal};
pub use self::feature_descriptor::FeatureDescriptor;
pub use self::form::{FieldError, Form, FormChoice, FormError, FormField, StringFormat};
#[cfg(feature = "client")]
pub use self::form::{describe_field, parse_form_content};
pub use self::function::argument::{FromText, ToolArgument};
pub use self::function::bounds::{HasLength, HasRange, HeaderArgument};
pub use self::function::field_type::{FieldType, InputFieldType, OutputFieldType, Suitable};
pub use self::function::kind::{ContentOutput, FallibleOutput, JsonOutput, StructuredOutput};
pub use self::function::text::TextArgument;
pub use self::limits::{EventLimits, HttpLimits, Limits, StreamLimits, SubscriptionLimits};
pub use self::prompt::PromptDefinition;
pub use self::prompt::output::PromptOutput;
pub use self::resource::ResourceDefinition;
pub use self::resource::bytes::base64;
pub use self::resource::output::ResourceOutput;
pub use self::revision::WrapResults;
pub use self::scope::{Access, Authority, IntoScopes, MissingScope, OneOf, RequiredScopes};
#[cfg(feature = "tower")]
pub use self::server::layer;
pub use self::server::observe;
pub use self::server::{
    CallPermits, Component, Connection, Edit, Handled, Namespace, PendingResponse, Server,
    ServerBuilder, SubscribedResources, WeakServer,
};
pub use self::stream::{ToolItem, ToolStream};
pub use self::tool::error::ToolError;
pub use self::tool::output::ToolOutput;
pub use self::tool::reply::ToolResultWriter;
pub use self::tool::structured::Structured;
pub use self::tool::{IntoToolSet, Tool, ToolDefinition, ToolSet};
pub use self::typed_contract::{ContractArgument, ContractItem, ContractOutput, Fallible};
pub use self::visibility::{Caller, FeatureRef};
pub use self::wire::RpcError;
pub use treenail_schema::internal::ValidationLimits;
